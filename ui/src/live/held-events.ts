import { type LiveEvent, resetEvent } from './live-event.ts';

/** Changed scans beyond which everything is loaded anew. */
const maxScans = 500;

/** Events of the service for a tab that nobody sees: drawing them would cost as much as in front. */
export class HeldEvents {
  /** By what they replace, oldest first. */
  readonly #held = new Map<string, LiveEvent>();

  add(event: LiveEvent): void {
    // Loads everything, what comes later included.
    if (this.#held.has('reset')) return;
    // Of a scan the newest state counts, of other events that there was one.
    const key = event.event === 'scan' ? `scan ${String(event.data['scan_id'])}` : event.event;
    this.#held.delete(key);
    this.#held.set(key, event);
    if (event.event === 'reset' || this.#held.size > maxScans) this.#reset();
  }

  #reset(): void {
    this.#held.clear();
    this.#held.set('reset', resetEvent());
  }

  /** What the tab must show now that it is seen. */
  take(): LiveEvent[] {
    const events = [...this.#held.values()];
    this.#held.clear();
    return events;
  }
}

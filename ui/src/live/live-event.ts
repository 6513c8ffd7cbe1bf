import type { TabEvent } from './live-state.ts';

/** An event of the service or of a scan. Its data is parsed when somebody reads it: a fast scan has thousands a second. */
export class LiveEvent {
  readonly event: string;
  /** The followed scan whose row it is; null for events of the service. */
  readonly scan: string | null;
  readonly #text: string;
  #data: Record<string, unknown> | null = null;

  constructor({ event, scan, data }: Pick<TabEvent, 'event' | 'scan' | 'data'>) {
    this.event = event;
    this.scan = scan;
    this.#text = data;
  }

  get data(): Record<string, unknown> {
    this.#data ??= JSON.parse(this.#text) as Record<string, unknown>;
    return this.#data;
  }
}

/** Everything may have changed. */
export function resetEvent(): LiveEvent {
  return new LiveEvent({ event: 'reset', scan: null, data: '{}' });
}

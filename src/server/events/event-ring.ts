import { randomBytes } from 'node:crypto';
import type { TokenScope } from '../../actions/access/verify-token.ts';

/** Events of the service as a whole; those of single scans come from their records. */
export type ServiceEventName = 'scan' | 'scan_deleted' | 'job' | 'alert' | 'health' | 'draining' | 'reset';

/** An event that every reader gets, in order. */
export interface ServiceEvent {
  sequence: number;
  event: ServiceEventName;
  /** JSON text on one line. */
  data: string;
  /** Only tokens with this scope get it; null = all. */
  needs: TokenScope | null;
}

/** A reader that comes back finds this many events; more than a browser misses while it reconnects. */
const ringEvents = 2048;

/** The newest events of a service, for readers that come back. */
export class EventRing {
  /** Positions of other rings have another one, such as those from before a restart. */
  readonly epoch = randomBytes(6).toString('hex');
  readonly #size: number;
  #events: ServiceEvent[] = [];
  #last = 0;

  /** @param size number of events that can be replayed */
  constructor(size = ringEvents) {
    this.#size = size;
  }

  /** Sequence of the newest event; 0 without any. */
  get last(): number {
    return this.#last;
  }

  push(event: ServiceEventName, data: string, needs: TokenScope | null = null): void {
    this.#last += 1;
    this.#events.push({ sequence: this.#last, event, data, needs });
    // In steps: moving the array at each event would cost its length.
    if (this.#events.length >= 2 * this.#size) this.#events = this.#events.slice(-this.#size);
  }

  /** The events after one; null if some of them are no longer here, or it never was. */
  after(sequence: number): readonly ServiceEvent[] | null {
    if (sequence > this.#last) return null;
    const first = this.#last - this.#events.length + 1;
    if (sequence + 1 < first) return null;
    return this.#events.slice(sequence + 1 - first);
  }
}

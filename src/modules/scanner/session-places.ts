import {
  AdaptiveConcurrency,
  leastConcurrency,
  mostConcurrency,
  type WorkEnd,
} from '../../net/adaptive/concurrency.ts';
import type { PortObservation } from '../../net/gate/gate.ts';
import { Slots } from '../../net/gate/slots.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { isSilence } from './slow-connections.ts';

/** Most sessions with one host at a time, however many there may be in all. */
const mostPerHost = 100;

interface PlacesInput {
  /** Sessions at a time; 0 = as this machine and the targets bear. */
  concurrency: number;
  /** Packets per second: more sessions than that would only wait for it. */
  rate: number;
  /** The ports were seen open: one that does not respond now is a sign of too much load. */
  knownOpen: boolean;
  signal: AbortSignal;
}

/** Places of the sessions that run at the same time. */
export class SessionPlaces {
  readonly #input: PlacesInput;
  readonly #adaptive: AdaptiveConcurrency | null;
  readonly #hosts = new Map<string, { slots: Slots; sessions: number }>();
  #running = 0;

  constructor(input: PlacesInput) {
    const most = Math.min(mostConcurrency, Math.max(leastConcurrency, input.rate));
    this.#input = input;
    this.#adaptive =
      input.concurrency === 0 ? new AdaptiveConcurrency({ most, lostMs: () => loopClock.lostMs }) : null;
  }

  /** Most sessions at a time now. */
  get limit(): number {
    return this.#adaptive?.limit ?? this.#input.concurrency;
  }

  /** Runs a session once there is a place for it at its host. */
  async use(
    host: string,
    work: (onFailure: (failure: PortObservation) => void) => Promise<void>,
  ): Promise<void> {
    const adaptive = this.#adaptive;
    if (!adaptive) return await work(() => undefined);
    this.#running += 1;
    let end: WorkEnd = 'good';
    const leave = await this.#enter(host);
    try {
      await work((failure) => {
        end = this.#endOf(failure);
      });
    } finally {
      leave();
      adaptive.note(end, this.#running >= adaptive.limit);
      this.#running -= 1;
    }
  }

  #endOf(failure: PortObservation): WorkEnd {
    if (failure.reason.startsWith('local error')) return 'shortage';
    return this.#input.knownOpen && isSilence(failure) ? 'lost' : 'good';
  }

  async #enter(host: string): Promise<() => void> {
    const place = this.#hosts.get(host) ?? { slots: new Slots(mostPerHost), sessions: 0 };
    this.#hosts.set(host, place);
    place.sessions += 1;
    const entered = await place.slots.acquire(this.#input.signal);
    return () => {
      if (entered) place.slots.release();
      place.sessions -= 1;
      if (place.sessions === 0) this.#hosts.delete(host);
    };
  }
}

import { onAbort } from '../../net/abort.ts';
import {
  AdaptiveConcurrency,
  leastConcurrency,
  mostConcurrency,
  type WorkEnd,
} from '../../net/adaptive/concurrency.ts';
import type { PortObservation } from '../../net/gate/gate.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { isSilence } from './slow-connections.ts';

interface PlacesInput {
  /** Sessions at a time; 0 = as this machine and the targets bear. */
  concurrency: number;
  /** Packets per second: more sessions than that would only wait for it. */
  rate: number;
  /** The ports were seen open: one that does not respond now is a sign of too much load. */
  knownOpen: boolean;
  signal: AbortSignal;
}

/** What a session reports of its port. */
export interface SessionReport {
  /** A connection was made: this host and this machine bear it, however long its service is silent. */
  connected(): void;
  /** No connection could be made. */
  failed(failure: PortObservation): void;
}

/** Sessions with one host. */
interface HostSessions {
  readonly adaptive: AdaptiveConcurrency;
  running: number;
  waiting: number;
}

interface Waiter {
  host: HostSessions;
  enter(): void;
}

const unheard: SessionReport = { connected() {}, failed() {} };

/** Places of the sessions that run at the same time, in all and with each host. */
export class SessionPlaces {
  readonly #input: PlacesInput;
  readonly #most: number;
  readonly #inAll: AdaptiveConcurrency;
  readonly #hosts = new Map<string, HostSessions>();
  readonly #waiters = new Set<Waiter>();
  #running = 0;

  constructor(input: PlacesInput) {
    this.#input = input;
    this.#most = Math.min(mostConcurrency, Math.max(leastConcurrency, input.rate));
    this.#inAll = this.#adaptive();
    onAbort(input.signal, () => this.#admit());
  }

  /** Most sessions that may ask for a place at a time. */
  get limit(): number {
    return this.#input.concurrency || this.#most;
  }

  /** Runs a session once there is a place for it. */
  async use(address: string, work: (report: SessionReport) => Promise<void>): Promise<void> {
    if (this.#input.concurrency > 0) return await work(unheard);
    const host = this.#hosts.get(address) ?? { adaptive: this.#adaptive(), running: 0, waiting: 0 };
    this.#hosts.set(address, host);
    await this.#enter(host);
    let end: WorkEnd | null = 'good';
    try {
      await work({
        connected: () => {
          if (end !== null) this.#note(host, 'good');
          end = null;
        },
        failed: (failure) => {
          end = this.#endOf(failure);
        },
      });
    } finally {
      if (end !== null) this.#note(host, end);
      this.#running -= 1;
      host.running -= 1;
      if (host.running + host.waiting === 0) this.#hosts.delete(address);
      this.#admit();
    }
  }

  #adaptive(): AdaptiveConcurrency {
    return new AdaptiveConcurrency({ most: this.#most, lostMs: () => loopClock.lostMs });
  }

  #note(host: HostSessions, end: WorkEnd): void {
    host.adaptive.note(end, host.waiting > 0);
    this.#inAll.note(end, this.#waiters.size > 0);
    this.#admit();
  }

  #endOf(failure: PortObservation): WorkEnd {
    if (failure.reason.startsWith('local error')) return 'shortage';
    return this.#input.knownOpen && isSilence(failure) ? 'lost' : 'good';
  }

  #enter(host: HostSessions): Promise<void> {
    return new Promise((enter) => {
      host.waiting += 1;
      this.#waiters.add({ host, enter });
      this.#admit();
    });
  }

  /** Lets those in that there is a place for, in the order in which they came; all of them once the scan ends. */
  #admit(): void {
    for (const waiter of this.#waiters) {
      const { aborted } = this.#input.signal;
      if (!aborted && this.#running >= this.#inAll.limit) return;
      const { host } = waiter;
      if (!aborted && host.running >= host.adaptive.limit) continue;
      this.#waiters.delete(waiter);
      this.#running += 1;
      host.running += 1;
      host.waiting -= 1;
      waiter.enter();
    }
  }
}

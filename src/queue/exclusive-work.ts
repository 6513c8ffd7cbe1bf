import type { Store } from '../store/open.ts';
import type { Dispatcher } from './dispatcher.ts';

/** Another host may do the work this long after the last heartbeat of one that died, milliseconds. */
const leaseMs = 15_000;
const renewMs = leaseMs / 5;

/** Work that one of the hosts of a database does at a time: a job of which there is one. */
export class ExclusiveWork {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #line: string;

  constructor(store: Store, dispatcher: Dispatcher, line: string) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.#line = line;
  }

  /** @returns what `work` returns; null, without doing it, while another host does it */
  async run<T>(work: () => Promise<T>): Promise<{ done: T } | null> {
    const claim = await this.#dispatcher.claimOnly(this.#line, leaseMs);
    if (claim === null) return null;
    const renewals = setInterval(() => {
      // Without the database neither the work goes on nor that of another host begins.
      this.#dispatcher.renew(this.#store, claim).catch(() => undefined);
    }, renewMs);
    try {
      return { done: await work() };
    } finally {
      clearInterval(renewals);
      // Otherwise it ends with its lease.
      await this.#dispatcher.complete(this.#store, claim).catch(() => undefined);
    }
  }
}

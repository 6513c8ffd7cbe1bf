import { PortolanError } from '../../domain/errors.ts';

/** Requests of one client that are worked on at the same time; streams are counted apart. */
const maxAtOnce = 32;
/** Requests of one client that wait for their turn; one more is rejected. */
const maxWaiting = 256;

interface Client {
  running: number;
  /** In the order of their coming. */
  waiting: Set<() => void>;
}

/** Takes what is to be called once the response has ended, or its client has gone. */
export type OnEnd = (work: () => void) => void;

/** A client that sends faster than it is served waits for itself, and not everybody for it. */
export class RequestSlots {
  readonly #clients = new Map<string, Client>();

  /** Clients with requests under way. */
  get size(): number {
    return this.#clients.size;
  }

  /**
   * Takes a place for a request.
   *
   * @param client id of a token, or an address
   * @returns null when there was one; else a promise that resolves when there is, and rejects when the client has gone
   * @throws PortolanError `rate_limited` when too many wait already
   */
  enter(client: string, onEnd: OnEnd): Promise<void> | null {
    let state = this.#clients.get(client);
    if (!state) {
      state = { running: 0, waiting: new Set() };
      this.#clients.set(client, state);
    }
    const own = state;
    if (own.running < maxAtOnce) {
      own.running += 1;
      onEnd(() => this.#leave(client, own));
      return null;
    }
    if (own.waiting.size >= maxWaiting) {
      throw new PortolanError(
        'rate_limited',
        `Too many requests at the same time: ${maxAtOnce} are worked on and ${maxWaiting} wait.`,
      );
    }
    return this.#wait(client, own, onEnd);
  }

  async #wait(client: string, state: Client, onEnd: OnEnd): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = () => resolve();
      state.waiting.add(begin);
      onEnd(() => {
        if (!state.waiting.delete(begin)) return this.#leave(client, state);
        reject(new PortolanError('timeout', 'The client has gone before its request had its turn.'));
      });
    });
  }

  /** The place goes to the request that waits for longest. */
  #leave(client: string, state: Client): void {
    for (const begin of state.waiting) {
      state.waiting.delete(begin);
      return begin();
    }
    state.running -= 1;
    if (state.running === 0) this.#clients.delete(client);
  }
}

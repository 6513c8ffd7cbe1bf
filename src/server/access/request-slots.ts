import { PortolanError } from '../../domain/errors.ts';

/** Maximum number of concurrent requests per client; streams are counted separately. */
const maxAtOnce = 32;
/** Maximum number of waiting requests per client; more are rejected. */
const maxWaiting = 256;

interface Client {
  running: number;
  /** In order of arrival. */
  waiting: Set<() => void>;
}

/** Registers a callback for the end of the response or the disconnect of its client. */
export type OnEnd = (work: () => void) => void;

/** Limits concurrent requests per client, so that a fast client delays only itself. */
export class RequestSlots {
  readonly #clients = new Map<string, Client>();

  /** Clients with pending requests. */
  get size(): number {
    return this.#clients.size;
  }

  /**
   * Takes a slot for a request.
   *
   * @param client id of a token, or an address
   * @returns null if one is free, else a promise that resolves with a slot, and rejects when the client disconnects
   * @throws PortolanError `rate_limited` when too many are waiting
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
        `Too many concurrent requests: ${maxAtOnce} running and ${maxWaiting} waiting.`,
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
        reject(new PortolanError('timeout', 'The client disconnected while its request was waiting.'));
      });
    });
  }

  /** Passes the slot to the oldest waiting request. */
  #leave(client: string, state: Client): void {
    for (const begin of state.waiting) {
      state.waiting.delete(begin);
      return begin();
    }
    state.running -= 1;
    if (state.running === 0) this.#clients.delete(client);
  }
}

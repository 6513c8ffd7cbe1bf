import { PortolanError } from '../../domain/errors.ts';

/** Maximum number of concurrent requests per client; streams are counted separately. */
const maxAtOnce = 32;
/** Maximum number of waiting requests per client; more are rejected. */
const maxWaiting = 256;

/**
 * Maximum number of requests of a client that begin in one turn of the event loop: short ones of hundreds of connections would
 * otherwise be answered in the order of the sockets, before that of another client is read.
 */
const maxPerTurn = 8;

interface Client {
  running: number;
  /** Begun in this turn of the event loop. */
  begun: number;
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
      state = { running: 0, begun: 0, waiting: new Set() };
      this.#clients.set(client, state);
    }
    const own = state;
    if (own.running < maxAtOnce && own.begun < maxPerTurn) {
      this.#begin(client, own);
      onEnd(() => this.#leave(client, own));
      return null;
    }
    if (own.running + own.waiting.size >= maxAtOnce + maxWaiting) {
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

  #leave(client: string, state: Client): void {
    state.running -= 1;
    this.#beginWaiting(client, state);
  }

  #begin(client: string, state: Client): void {
    state.running += 1;
    state.begun += 1;
    if (state.begun > 1) return;
    setImmediate(() => {
      state.begun = 0;
      this.#beginWaiting(client, state);
    });
  }

  /** The oldest first. */
  #beginWaiting(client: string, state: Client): void {
    for (const begin of state.waiting) {
      if (state.running >= maxAtOnce || state.begun >= maxPerTurn) return;
      state.waiting.delete(begin);
      this.#begin(client, state);
      begin();
    }
    if (state.running + state.waiting.size === 0) this.#clients.delete(client);
  }
}

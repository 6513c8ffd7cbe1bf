import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';

/** Limits open event streams of REST and gRPC together, per client and in total. */
export class OpenStreams {
  readonly #limits: Config['server']['streams'];
  readonly #byClient = new Map<string, number>();
  #total = 0;

  /** @param limits read for each new stream */
  constructor(limits: Config['server']['streams']) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * @param client id of a token, or an address
   * @returns a function to call when the stream ends; idempotent
   * @throws PortolanError `rate_limited`
   */
  open(client: string): () => void {
    const { per_token, total } = this.#limits;
    const own = this.#byClient.get(client) ?? 0;
    if (own >= per_token)
      throw tooMany(`this client has ${own} open event streams`, 'server.streams.per_token');
    if (this.#total >= total) throw tooMany(`${this.#total} event streams are open`, 'server.streams.total');
    this.#byClient.set(client, own + 1);
    this.#total += 1;
    let open = true;
    return () => {
      if (open) this.#close(client);
      open = false;
    };
  }

  #close(client: string): void {
    this.#total -= 1;
    const left = (this.#byClient.get(client) ?? 0) - 1;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }
}

function tooMany(fact: string, key: string): PortolanError {
  return new PortolanError('rate_limited', `Too many event streams: ${fact}, the limit of ${key}.`);
}

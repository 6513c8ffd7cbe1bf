import type { Server } from 'node:http';

/** Counts pending responses of a listener, from the headers of the request to the end of the response. */
export class OpenResponses {
  #count = 0;
  #onNone: (() => void) | null = null;

  constructor(server: Server) {
    server.prependListener('request', (_request, response) => {
      this.#count++;
      response.once('close', () => {
        this.#count--;
        if (this.#count === 0) this.#onNone?.();
      });
    });
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves when none is pending, or after `ms`. */
  async ended(ms: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, ms);
      this.#onNone = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }
}

import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import type { RemoteScans } from './remote-scans.ts';

/** Time limit for the response headers of the other server, milliseconds. */
const answerMs = 30_000;
/** Marks a forwarded request: it is handled locally, so it cannot loop. */
export const forwardedHeader = 'x-portolan-forwarded';

/** A request as it is handed on. */
export interface ForwardedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
}

/** The server in whose workspace a scan lies, where that is another one. */
export class HomeServers {
  readonly #store: Store;
  readonly #elsewhere: RemoteScans;
  readonly #storesResults: boolean;

  /**
   * @param store of all tenants
   * @param storesResults there is a result store: what it holds is read without the home of the scan
   */
  constructor(store: Store, elsewhere: RemoteScans, storesResults: boolean) {
    this.#store = store;
    this.#elsewhere = elsewhere;
    this.#storesResults = storesResults;
  }

  /** Id of the other server without which the files of a scan cannot be read. */
  async #onlyPlaceOf(scanId: string): Promise<string | null> {
    const home = await this.#elsewhere.homeOf(scanId);
    if (home === null || !this.#storesResults) return home;
    return (await this.#store.scans.storedAt(scanId)) === null ? home : null;
  }

  /** @throws PortolanError `conflict` when the files of a scan can be read with another server only, which it names */
  async demandHere(scanId: string): Promise<void> {
    const home = await this.#onlyPlaceOf(scanId);
    if (home === null) return;
    const server = (await this.#store.hosts.server(home))?.url ?? null;
    throw new PortolanError(
      'conflict',
      'The files of the scan are on another server; send the request there.',
      {
        server,
      },
    );
  }

  /**
   * Asks the home of a scan. Whoever asks has been admitted here; the other server admits by the same tokens.
   *
   * @returns null when the scan lies here, or can be read from here
   * @throws PortolanError `unavailable` when its home cannot be reached
   */
  async ask(scanId: string, { method, url, headers, signal }: ForwardedRequest): Promise<Response | null> {
    const reads = method === 'GET' || method === 'HEAD';
    const home = await (reads ? this.#onlyPlaceOf(scanId) : this.#elsewhere.homeOf(scanId));
    if (home === null) return null;
    const server = await this.#store.hosts.server(home);
    if (server === null) {
      // Nobody has seen it for a day: what it has cannot be read, but can be forgotten.
      if (!reads) return null;
      throw away();
    }
    const slow = new AbortController();
    const timer = setTimeout(() => slow.abort(), answerMs);
    try {
      return await fetch(`${server.url}${url}`, {
        method,
        headers: { ...headers, [forwardedHeader]: '1' },
        signal: AbortSignal.any([signal, slow.signal]),
        redirect: 'manual',
      });
    } catch (error) {
      throw away(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function away(cause?: unknown): PortolanError {
  const message = 'The files of the scan are on another server, which is unreachable.';
  return new PortolanError('unavailable', message, {}, cause);
}

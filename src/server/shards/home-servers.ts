import { PortolanError } from '../../domain/errors.ts';
import { commandLineOf } from '../../domain/executor.ts';
import { isFinal } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { RemoteScans } from './remote-scans.ts';

/** Timeout of the response headers of the other server, milliseconds. */
const answerMs = 30_000;
/** Marks a forwarded request: the receiver handles it locally, so it cannot loop. */
export const forwardedHeader = 'x-portolan-forwarded';

/** A request to forward. */
export interface ForwardedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
  /** Also when this server can read the scan. */
  stays?: boolean;
  /** Needs more than the rows of a scan. */
  whole?: boolean;
}

/** Forwards requests to the owner of a scan, if that is another server. */
export class HomeServers {
  readonly #store: Store;
  readonly #elsewhere: RemoteScans;

  /** @param store of all tenants */
  constructor(store: Store, elsewhere: RemoteScans) {
    this.#store = store;
    this.#elsewhere = elsewhere;
  }

  /**
   * Id of the other server, if only that has the files of a scan.
   * @param whole not only its rows, which the database has while it is unfinished
   */
  async #onlyPlaceOf(scanId: string, whole: boolean): Promise<string | null> {
    const home = await this.#elsewhere.homeOf(scanId);
    if (home === null || (await this.#store.scans.storedAt(scanId)) !== null) return null;
    return !whole && (await this.#isInDatabase(scanId)) ? null : home;
  }

  /** Whether the database has the rows of a scan that another server runs: it is unfinished. */
  async hasRows(scanId: string): Promise<boolean> {
    return (await this.#elsewhere.homeOf(scanId)) !== null && (await this.#isInDatabase(scanId));
  }

  async #isInDatabase(scanId: string): Promise<boolean> {
    const { scans, shardResults } = this.#store;
    const [scan, executor] = await Promise.all([scans.get(scanId), scans.executor(scanId)]);
    if (scan === null || isFinal(scan.status) || commandLineOf(executor ?? '') !== null) return false;
    return (await shardResults.hasBlocks(scanId)) !== false;
  }

  /** Whether only another server has the files of a scan. */
  async isElsewhere(scanId: string): Promise<boolean> {
    return (await this.#onlyPlaceOf(scanId, false)) !== null;
  }

  /** @throws PortolanError `conflict` if only another server has the files of a scan; names it */
  async demandHere(scanId: string): Promise<void> {
    const home = await this.#onlyPlaceOf(scanId, true);
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
   * Forwards a request to the owner of a scan. The request was admitted here; the other server accepts the same
   * tokens.
   *
   * @returns null if the scan is on this server, or can be read here
   * @throws PortolanError `unavailable` if its owner cannot be reached
   */
  async ask(
    scanId: string,
    { method, url, headers, signal, stays = false, whole = false }: ForwardedRequest,
  ): Promise<Response | null> {
    const reads = method === 'GET' || method === 'HEAD';
    const home = await (reads && !stays ? this.#onlyPlaceOf(scanId, whole) : this.#elsewhere.homeOf(scanId));
    if (home === null) return null;
    const server = await this.#store.hosts.server(home);
    if (server === null) {
      // Without a heartbeat for a day: its scans can be deleted, but not read.
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

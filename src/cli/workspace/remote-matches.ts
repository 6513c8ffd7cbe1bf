import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryMatches, RecordCounts } from '../../actions/results/match-records.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import { scanPath } from '../results/remote-result.ts';
import { type Client, isTooLarge } from '../session/client.ts';
import { type MatchPage, matchPageShape } from '../session/server-responses.ts';
import { printable } from '../terminal/draw/printable.ts';
import { note } from '../terminal/output.ts';

/** Records per page; fewer where rows are so long that a page exceeds what the client accepts. */
const pageSizes = [1000, 50, 1];
/** Between attempts while the server builds the index or limits the requests, milliseconds. */
const pauseMs = 2000;
/** The server lets a request wait for some 5 s: together some minutes, enough for millions of records. */
const maxAttempts = 40;

/**
 * The records of a scan on a server that match a query, page by page: the server evaluates it.
 * @param counted receives the counts with the first page
 */
export async function remoteMatches(
  client: Client,
  id: string,
  query: string,
  counted: QueryMatches,
): Promise<AsyncIterable<ResultRow>> {
  const pages = new MatchPages(client, id, query);
  counted.totals = await pages.totals();
  const first = await pages.next(null);
  counted.matches = first.matches;
  for (const { message } of first.warnings) note(`warning: ${printable(`${id}: ${message}`)}`);
  return rowsFrom(pages, first, counted);
}

async function* rowsFrom(
  pages: MatchPages,
  first: MatchPage,
  counted: QueryMatches,
): AsyncGenerator<ResultRow> {
  for (let page = first; ; page = await pages.next(page.next_cursor)) {
    counted.matches = page.matches;
    // The sums of hosts and ports are for lists.
    for (const { totals: _totals, matching: _matching, ...row } of page.records) yield row as ResultRow;
    if (page.next_cursor === null) return;
  }
}

class MatchPages {
  readonly #client: Client;
  readonly #path: string;
  readonly #query: string;

  constructor(client: Client, id: string, query: string) {
    this.#client = client;
    this.#path = `${scanPath(id)}/records`;
    this.#query = query;
  }

  /** Of the whole scan. */
  async totals(): Promise<RecordCounts> {
    return (await this.#read({ type: 'host', limit: '1' })).matches;
  }

  async next(cursor: string | null): Promise<MatchPage> {
    const place = { q: this.#query, ...(cursor !== null && { cursor }) };
    for (const size of pageSizes) {
      try {
        return await this.#read({ ...place, limit: String(size) });
      } catch (error) {
        if (!isTooLarge(error) || size === pageSizes.at(-1)) throw error;
      }
    }
    throw new Error('unreachable');
  }

  async #read(query: Record<string, string>): Promise<MatchPage> {
    const path = `${this.#path}?${new URLSearchParams(query)}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#client.call('GET', path, matchPageShape);
      } catch (error) {
        if (!isPassing(error) || attempt === maxAttempts) throw error;
        await sleep(pauseMs);
      }
    }
  }
}

/** The index of the scan is being built, or other requests come first. */
function isPassing(error: unknown): boolean {
  return error instanceof PortolanError && (error.code === 'timeout' || error.code === 'rate_limited');
}

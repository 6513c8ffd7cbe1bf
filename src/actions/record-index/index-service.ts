import { rm, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { withoutField } from '../../domain/query/query-terms.ts';
import { recordAt } from '../../workspace/record/folder-record.ts';
import type { RecordSource } from '../../workspace/record/scan-record.ts';
import { facetOf } from '../../workspace/record-index/facets.ts';
import { memberPage } from '../../workspace/record-index/member-list.ts';
import { totalsOf } from '../../workspace/record-index/row-totals.ts';
import { coverageOf, emptyCoverage } from './coverage-sums.ts';
import { explainHost } from './explain-host.ts';
import type {
  FacetsRequest,
  FacetsResponse,
  IndexedScan,
  IndexRequest,
  IndexResponses,
  RowsRequest,
  RowsResponse,
} from './index-requests.ts';
import { type OpenIndex, openIndex } from './open-index.ts';
import { rankFixes } from './rank-fixes.ts';
import type { Turns } from './turns.ts';

/** Indexes in memory; some 60 bytes per row. */
const maxOpen = 4;
/** Rows of all of them together; the newest one is always there. */
const maxOpenRows = 3_000_000;
/** A growing record is followed for this long after a request, in this interval, milliseconds. */
const followMs = 10_000;
const followIntervalMs = 500;

/** One scan within the thread. */
interface Entry {
  scan: IndexedScan;
  open: OpenIndex | null;
  /** Being built, and how far. */
  building: { done: Promise<void>; rows: number } | null;
  /** Work on the index: one at a time. */
  queue: Promise<unknown>;
  usedAt: number;
}

/** The indexes of the thread: opened on demand, the least recently used are closed. */
export class IndexService {
  readonly #entries = new Map<string, Entry>();
  readonly #onActivity: (isBusy: boolean) => void;
  #active = 0;
  #extending = false;
  #following: NodeJS.Timeout | null = null;

  /** @param onActivity called when work begins, and when there is no more */
  constructor(onActivity: (isBusy: boolean) => void) {
    this.#onActivity = onActivity;
  }

  async run<K extends IndexRequest['kind']>(
    scan: IndexedScan,
    request: Extract<IndexRequest, { kind: K }>,
    turns: Turns,
  ): Promise<IndexResponses[K]> {
    this.#begin();
    try {
      return (await this.#attempt(scan, request, turns)) as IndexResponses[K];
    } catch (error) {
      if (!isDatabaseError(error)) throw error;
      // The file is damaged: everything in it is in the record too.
      await this.forget(scan.file);
      return (await this.#attempt(scan, request, turns)) as IndexResponses[K];
    } finally {
      this.#end();
    }
  }

  #begin(): void {
    if (this.#active++ === 0) this.#onActivity(true);
  }

  #end(): void {
    if (--this.#active > 0) return;
    void this.#extendSearch();
    this.#report();
  }

  #report(): void {
    const isBuilding = [...this.#entries.values()].some(({ building }) => building !== null);
    this.#onActivity(this.#active > 0 || this.#extending || isBuilding || this.#following !== null);
  }

  async #attempt(
    scan: IndexedScan,
    request: IndexRequest,
    turns: Turns,
  ): Promise<IndexResponses[keyof IndexResponses]> {
    const entry = this.#entryOf(scan);
    await this.#refresh(entry, turns);
    return await this.#alone(entry, async () => {
      turns.check();
      return entry.open === null ? emptyResponse(request) : await respond(entry.open, request, turns);
    });
  }

  #entryOf(scan: IndexedScan): Entry {
    const known = this.#entries.get(scan.file);
    const entry = known ?? { scan, open: null, building: null, queue: Promise.resolve(), usedAt: 0 };
    entry.scan = scan;
    entry.usedAt = performance.now();
    this.#entries.set(scan.file, entry);
    return entry;
  }

  /** Runs work on an index after all earlier work on it. */
  #alone<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    const done = entry.queue.then(work, work);
    entry.queue = done.catch(() => undefined);
    return done;
  }

  /** Brings the index of an entry up to date; while a finished one is being built, a growing one may still serve. */
  async #refresh(entry: Entry, turns: Turns): Promise<void> {
    const source = await recordAt(entry.scan.record).source();
    if (source === null) return;
    const isCurrent = entry.open?.index.identity === source.identity && (await hasFile(entry));
    if (isCurrent) {
      await this.#alone(entry, async () => {
        if (source.isGrowing) await source.close();
        else await entry.open?.useSource(source);
        await entry.open?.catchUp();
      });
      if (entry.open?.index.isGrowing) this.#follow();
      return;
    }
    if (entry.building === null) this.#build(entry, source);
    else await source.close();
    const isServed = entry.open?.index.isGrowing === true;
    if (!isServed) await this.#built(entry, turns);
  }

  #build(entry: Entry, source: RecordSource): void {
    const building = { done: Promise.resolve(), rows: 0 };
    entry.building = building;
    this.#report();
    const onRows = (rows: number) => {
      building.rows = rows;
    };
    building.done = openIndex(entry.scan.file, source, onRows)
      .then(async (open) => {
        await this.#alone(entry, async () => {
          await entry.open?.close();
          entry.open = open;
        });
        await this.#closeUnused(entry);
      })
      .catch(async (error: unknown) => {
        await source.close();
        throw error;
      })
      .finally(() => {
        entry.building = null;
        this.#report();
        void this.#extendSearch();
      });
    // Those who wait get the error.
    building.done.catch(() => undefined);
  }

  async #built(entry: Entry, turns: Turns): Promise<void> {
    const { building } = entry;
    if (building === null) return;
    turns.waitsFor = () =>
      `The index of the scan is being built: ${building.rows} rows so far. Retry in some seconds.`;
    let isDone = false;
    const done = building.done.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) {
      turns.check();
      await Promise.race([done, pause(20)]);
    }
    await done;
    turns.waitsFor = null;
  }

  async #closeUnused(newest: Entry): Promise<void> {
    const open = [...this.#entries.values()]
      .filter((entry) => entry.open !== null && entry !== newest)
      .sort((a, b) => b.usedAt - a.usedAt);
    let rows = rowsOf(newest);
    for (const [at, entry] of open.entries()) {
      rows += rowsOf(entry);
      if (at + 1 >= maxOpen || rows > maxOpenRows) await this.#close(entry);
    }
  }

  async #close(entry: Entry): Promise<void> {
    await this.#alone(entry, async () => {
      const { open } = entry;
      entry.open = null;
      await open?.close();
    });
    if (entry.building === null) this.#entries.delete(entry.scan.file);
  }

  /** The scan is deleted, or its file is damaged. */
  async forget(file: string): Promise<void> {
    const entry = this.#entries.get(file);
    if (entry) await this.#close(entry);
    await rm(file, { force: true });
  }

  /** Completes growing records for a while, so that the next request finds little to do. */
  #follow(): void {
    this.#following ??= setTimeout(() => {
      this.#following = null;
      void this.#catchUpAll();
    }, followIntervalMs);
  }

  async #catchUpAll(): Promise<void> {
    const since = performance.now() - followMs;
    for (const entry of this.#entries.values()) {
      if (entry.usedAt < since || !entry.open?.index.isGrowing) continue;
      await this.#alone(entry, async () => entry.open?.catchUp()).catch(() => undefined);
      this.#follow();
    }
    this.#report();
  }

  /** Completes the search for text of finished records while there is nothing else to do. */
  async #extendSearch(): Promise<void> {
    if (this.#extending) return;
    this.#extending = true;
    try {
      for (const entry of this.#entries.values()) {
        const more = () =>
          this.#alone(entry, async () =>
            entry.open && !entry.open.index.isGrowing ? entry.open.index.pool.extendTrigrams() : false,
          );
        while (this.#active === 0 && (await more())) await setImmediate();
      }
    } catch {
      // Without it a search only takes longer; the next request finds what is wrong with the file.
    } finally {
      this.#extending = false;
      this.#report();
    }
  }

  async close(): Promise<void> {
    if (this.#following) clearTimeout(this.#following);
    for (const entry of this.#entries.values()) await this.#close(entry);
  }
}

function rowsOf({ open }: Entry): number {
  if (open === null) return 0;
  const { hosts, ports, findings, others } = open.index;
  return hosts.count + ports.count + findings.count + others.count;
}

/** Nothing is recorded yet. */
function emptyResponse(request: IndexRequest): IndexResponses[keyof IndexResponses] {
  const matches = { hosts: 0, ports: 0, findings: 0, others: 0 };
  switch (request.kind) {
    case 'rows':
      return { records: '[]', total: 0, offset: 0, matches, epoch: '', last: null };
    case 'facets':
      return { facets: request.fields.map((field) => ({ field, values: [], more: 0 })), matches };
    case 'fixes':
      return { fixes: [], total: 0 };
    case 'explain': {
      const { scanId, endpoint } = request;
      throw new PortolanError('not_found', `The scan ${scanId} has no results of the host ${endpoint.host}.`);
    }
    case 'coverage':
      return emptyCoverage(request);
    case 'prepare':
      return null;
  }
}

/** Whether the file of a finished index still exists: a cleaned cache takes its space only when it is closed. */
async function hasFile({ open, scan }: Entry): Promise<boolean> {
  if (open?.index.isGrowing) return true;
  return await stat(scan.file).then(
    () => true,
    () => false,
  );
}

function isDatabaseError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SQLITE_ERROR';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function respond(
  open: OpenIndex,
  request: IndexRequest,
  turns: Turns,
): Promise<IndexResponses[keyof IndexResponses]> {
  switch (request.kind) {
    case 'rows':
      return await listRows(open, request, turns);
    case 'facets':
      return await listFacets(open, request, turns);
    case 'fixes':
      return await rankFixes(open, request, turns);
    case 'explain':
      return await explainHost(open, request, turns);
    case 'coverage':
      return await coverageOf(open, request, turns);
    case 'prepare':
      return null;
  }
}

async function listRows(open: OpenIndex, request: RowsRequest, turns: Turns): Promise<RowsResponse> {
  const { index, order, epoch } = open;
  const { query, type, keys, limit, after } = request;
  const matched = await open.matched(query, turns.next);
  const start = { offset: request.offset, after: after?.epoch === epoch ? after.member : null };
  const { members, offset, total } = memberPage(index, order, matched, type, keys, start, limit);
  await turns.next();
  const rows = await open.source.members(members.map((member) => index.placesOf(member)));
  const totals = totalsOf(index, order, members, query === null ? null : matched);
  const texts = rows.flatMap((row, at) => (row === null ? [] : JSON.stringify({ ...row, ...totals[at] })));
  return {
    records: `[${texts.join()}]`,
    total,
    offset,
    matches: matched.counts,
    epoch,
    last: members.at(-1) ?? null,
  };
}

async function listFacets(open: OpenIndex, request: FacetsRequest, turns: Turns): Promise<FacetsResponse> {
  const { query, fields, limit } = request;
  const key = JSON.stringify(request);
  const known = open.recall(key) as FacetsResponse | undefined;
  if (known) return known;
  const matched = await open.matched(query, turns.next);
  const response: FacetsResponse = { facets: [], matches: matched.counts };
  for (const field of fields) {
    const own = withoutField(query, field);
    const members = own === query ? matched : await open.matched(own, turns.next);
    response.facets.push(facetOf(open.index, members, field, limit));
    await turns.next();
  }
  open.remember(key, response);
  return response;
}

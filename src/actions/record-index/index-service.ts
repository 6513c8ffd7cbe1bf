import { rm, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { recordAt } from '../../workspace/record/folder-record.ts';
import type { RecordSource } from '../../workspace/record/scan-record.ts';
import type { IndexedScan, IndexRequest, IndexResponses, RowsResponse } from './index-requests.ts';
import { emptyResponse, respond } from './index-responses.ts';
import { earlyRows, isInRecordOrder } from './list-rows.ts';
import { type Build, type OpenIndex, openIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** Indexes in memory; some 40 bytes per row. */
const maxOpen = 4;
/** Rows of all of them together; the newest one is always there. */
const maxOpenRows = 3_000_000;
/** A growing record is followed for this long after a request, in this interval, milliseconds. */
const followMs = 10_000;
const followIntervalMs = 500;
/** And then for as long as this after somebody watched the scan, so that little is missing when it is needed again. */
const watchMs = 180_000;
const watchIntervalMs = 5000;
/** What waits so long for a build gets what stands of it, if that suffices, milliseconds. */
const earlyMs = 500;
/** Between two attempts with more of it, milliseconds. */
const earlyRetryMs = 100;
/** A build that nobody waits for rests after each slice as long as that took, at most so long, milliseconds. */
const maxRestMs = 50;
/**
 * A request waits so long for what a growing record has got since, milliseconds; a scan that ends writes each of its hosts
 * anew, and the index follows for seconds.
 */
const catchUpMs = 100;
/** Then it catches up in such parts, with requests between them, milliseconds. */
const catchUpPartMs = 20;
/** Rest after each step of a search that nobody waits for, milliseconds. */
const searchRestMs = 10;

/** One scan within the thread. */
interface Entry {
  scan: IndexedScan;
  open: OpenIndex | null;
  building: Building | null;
  /** It catches up with a growing record; requests get what is in it. */
  isBehind: boolean;
  /** Work on the index: one at a time. */
  queue: Promise<unknown>;
  /** 0: nobody has asked for it yet. */
  usedAt: number;
}

interface Building extends Build {
  /** Monotonic, milliseconds. */
  startedAt: number;
  done: Promise<void>;
  /** Somebody has waited for it. */
  isUrgent: boolean;
}

/** The indexes of the thread: opened on demand, the least recently used are closed. */
export class IndexService {
  readonly #entries = new Map<string, Entry>();
  readonly #onActivity: (isBusy: boolean) => void;
  readonly #earlyMs: number;
  readonly #catchUpMs: number;
  readonly #closing = new AbortController();
  #active = 0;
  #extending = false;
  #following: NodeJS.Timeout | null = null;

  /**
   * @param onActivity called when work begins, and when there is no more
   * @param early @see earlyMs
   * @param catchUp @see catchUpMs
   */
  constructor(onActivity: (isBusy: boolean) => void, early = earlyMs, catchUp = catchUpMs) {
    this.#onActivity = onActivity;
    this.#earlyMs = early;
    this.#catchUpMs = catchUp;
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
    if (request.kind !== 'prepare') entry.usedAt = performance.now();
    for (;;) {
      const early = await this.#refresh(entry, request, turns);
      if (early === 'absent') return emptyResponse(request);
      if (early !== null) return early;
      if (request.kind === 'prepare') return await this.#finishPrepared(entry);
      const response = await this.#alone(entry, async () => {
        turns.check();
        const { open, building } = entry;
        return open && { of: withShare(await respond(open, request, turns), open, building) };
      });
      // Null: it was closed meanwhile.
      if (response !== null) return response.of;
    }
  }

  #entryOf(scan: IndexedScan): Entry {
    const known = this.#entries.get(scan.file);
    const entry = known ?? {
      scan,
      open: null,
      building: null,
      isBehind: false,
      queue: Promise.resolve(),
      usedAt: 0,
    };
    entry.scan = scan;
    this.#entries.set(scan.file, entry);
    return entry;
  }

  /** Runs work on an index after all earlier work on it. */
  #alone<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    const done = entry.queue.then(work, work);
    entry.queue = done.catch(() => undefined);
    return done;
  }

  /**
   * Brings the index of an entry up to date; while a finished one is being built, a growing one may still serve.
   * @returns the response if the index takes longer; `absent`: nothing is recorded yet, or nothing to prepare
   */
  async #refresh(entry: Entry, request: IndexRequest, turns: Turns): Promise<RowsResponse | 'absent' | null> {
    const source = await recordAt(entry.scan.record).source();
    if (source === null) return 'absent';
    if (request.kind === 'prepare' && source.isGrowing) {
      await source.close();
      return 'absent';
    }
    const isCurrent = entry.open?.index.identity === source.identity && (await hasFile(entry));
    if (isCurrent) {
      await this.#alone(entry, async () => {
        if (source.isGrowing || entry.open === null) await source.close();
        else await entry.open.useSource(source);
      });
      await this.#catchUp(entry, this.#catchUpMs);
      if (entry.open?.index.isGrowing) this.#follow();
      return null;
    }
    if (entry.building === null) this.#build(entry, source);
    else await source.close();
    if (entry.open?.index.isGrowing !== true) return await this.#built(entry, request, turns);
    if (request.kind !== 'prepare') await this.#awaitQuickBuild(entry);
    return null;
  }

  /** Of a scan that has just ended: what its growing index lacks is mostly there before a reader notices. */
  async #awaitQuickBuild({ building }: Entry): Promise<void> {
    if (building === null) return;
    const restMs = building.startedAt + this.#earlyMs - performance.now();
    if (restMs <= 0) return;
    building.isUrgent = true;
    await Promise.race([building.done.catch(() => undefined), pause(restMs)]);
    // From now on requests are served without it: it gives way to them.
    building.isUrgent = false;
  }

  /** Adds what a growing record has got; what takes longer goes on between requests. */
  async #catchUp(entry: Entry, mostMs: number): Promise<void> {
    if (entry.isBehind) return;
    await this.#addRows(entry, mostMs);
    if (entry.isBehind) void this.#catchUpInParts(entry);
  }

  async #catchUpInParts(entry: Entry): Promise<void> {
    try {
      while (entry.isBehind && !this.#closing.signal.aborted) {
        await setImmediate();
        await this.#addRows(entry, catchUpPartMs);
      }
    } catch {
      // The next request finds what is wrong.
      entry.isBehind = false;
    }
  }

  async #addRows(entry: Entry, mostMs: number): Promise<void> {
    await this.#alone(entry, async () => {
      entry.isBehind = (await entry.open?.catchUp(mostMs)) ?? false;
    });
  }

  #build(entry: Entry, source: RecordSource): void {
    const building: Building = {
      startedAt: performance.now(),
      done: Promise.resolve(),
      part: null,
      share: 0,
      isUrgent: false,
      turn: buildTurns(() => building.isUrgent, this.#closing.signal),
    };
    entry.building = building;
    this.#report();
    building.done = openIndex(entry.scan.file, source, building)
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

  /** Waits for a build. @returns a page of what stands of it, if that suffices and the rest takes longer */
  async #built(entry: Entry, request: IndexRequest, turns: Turns): Promise<RowsResponse | null> {
    const { building } = entry;
    if (building === null) return null;
    building.isUrgent ||= request.kind !== 'prepare';
    turns.waitsFor = () => beingBuilt(building);
    let isDone = false;
    const done = building.done.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    const isPlain = isInRecordOrder(request);
    for (let early = performance.now() + this.#earlyMs; !isDone; ) {
      turns.check();
      if (isPlain && building.part !== null && performance.now() >= early) {
        const response = await earlyRows(building.part, request, shownShare(building));
        if (response !== null) return response;
        early = performance.now() + earlyRetryMs;
      }
      await Promise.race([done, pause(20)]);
    }
    await done;
    turns.waitsFor = null;
    return null;
  }

  /** Completes the search in an index that nobody asked for yet; it takes no memory then. */
  async #finishPrepared(entry: Entry): Promise<null> {
    const isUnused = () => entry.usedAt === 0 && !this.#closing.signal.aborted;
    const extend = () =>
      this.#alone(entry, async () =>
        entry.open?.index.isGrowing === false ? entry.open.index.pool.extendTrigrams() : false,
      );
    while (isUnused() && (await extend())) await pause(searchRestMs);
    if (isUnused() && entry.building === null && entry.open?.index.isGrowing === false)
      await this.#close(entry);
    return null;
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
  }

  /** Rows of an index in use. @param file of the index */
  size(file: string): number {
    const entry = this.#entries.get(file);
    return entry ? rowsOf(entry) : 0;
  }

  /** The scan is deleted, or its file is damaged. */
  async forget(file: string): Promise<void> {
    const entry = this.#entries.get(file);
    if (entry) await this.#close(entry);
    if (entry?.building === null) this.#entries.delete(file);
    await rm(file, { force: true });
  }

  /** Somebody follows a scan: an index of its growing record goes on to follow too. */
  watched(file: string): void {
    const entry = this.#entries.get(file);
    if (!entry?.open?.index.isGrowing) return;
    entry.usedAt = Math.max(entry.usedAt, performance.now() - followMs);
    if (this.#following === null) this.#follow();
  }

  /** Completes growing records for a while, so that the next request finds little to do. */
  #follow(): void {
    if (this.#closing.signal.aborted) return;
    const isFast = [...this.#entries.values()].some((entry) => isFollowed(entry, followMs));
    const timer = setTimeout(
      () => {
        if (this.#following === timer) this.#following = null;
        void this.#catchUpAll();
      },
      isFast ? followIntervalMs : watchIntervalMs,
    );
    if (this.#following) clearTimeout(this.#following);
    this.#following = timer;
  }

  async #catchUpAll(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (!isFollowed(entry, watchMs)) continue;
      await this.#catchUp(entry, catchUpPartMs).catch(() => undefined);
    }
    if ([...this.#entries.values()].some((entry) => isFollowed(entry, watchMs))) this.#follow();
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
        while (this.#active === 0 && !this.#closing.signal.aborted && (await more())) await setImmediate();
      }
    } catch {
      // Without it a search only takes longer; the next request finds what is wrong with the file.
    } finally {
      this.#extending = false;
      this.#report();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#following) clearTimeout(this.#following);
    this.#following = null;
    const entries = [...this.#entries.values()];
    await Promise.allSettled(entries.map(({ building }) => building?.done));
    for (const entry of entries) await this.#close(entry);
  }
}

/** Whether an index of a growing record was used, or its scan watched, within a time, milliseconds. */
function isFollowed({ open, usedAt }: Entry, within: number): boolean {
  return open?.index.isGrowing === true && usedAt >= performance.now() - within;
}

/** Turns of a build: it gives way to requests, and rests while nobody waits for it. */
function buildTurns(isUrgent: () => boolean, closing: AbortSignal): () => Promise<void> {
  let resumedAt = performance.now();
  return async () => {
    const took = performance.now() - resumedAt;
    if (isUrgent()) await setImmediate();
    else await pause(Math.min(took, maxRestMs));
    if (closing.aborted) throw new PortolanError('unavailable', 'The server is stopping.');
    resumedAt = performance.now();
  };
}

/** A growing index that serves while the one of the ended scan is being built lacks the last rows: clients ask again. */
function withShare<T extends object | null>(response: T, open: OpenIndex, building: Building | null): T {
  if (response === null || building === null || !open.index.isGrowing) return response;
  return { ...response, share: shownShare(building) };
}

/** Hundredths, rounded down. */
function shownShare({ share }: Building): number {
  return Math.min(0.99, Math.floor(share * 100) / 100);
}

function beingBuilt(building: Building): PortolanError {
  const share = shownShare(building);
  const message = `The index of the scan is being built: ${Math.round(share * 100)} %. Retry in some seconds.`;
  return new PortolanError('timeout', message, { index_share: share });
}

function rowsOf({ open }: Entry): number {
  if (open === null) return 0;
  const { hosts, ports, findings, others } = open.index;
  return hosts.count + ports.count + findings.count + others.count;
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

import { isFinal, type Scan } from '../../domain/scan.ts';
import type { NumberedLine, ScanRecord } from '../../workspace/record/scan-record.ts';
import {
  type EventDamage,
  type EventRun,
  eventOfRow,
  type ScanEvent,
  type ScanSource,
} from './watch-scan.ts';

/** Maximum size of a batch, bytes. */
const maxBatchBytes = 1024 * 1024;
/** Maximum size of all batches that a feed keeps for later readers, bytes. */
const maxKeptBytes = 4 * 1024 * 1024;
/** Maximum size of a run, which a reader gets at once, bytes; larger only with a single row. */
const maxRunBytes = 64 * 1024;
/** A reader that reads nothing for this long loses its batch and continues at its own position, milliseconds. */
const stallMs = 2000;

export interface FeedInput {
  /** The current scan; null once it is deleted. */
  scan(): Promise<Scan | null>;
  /** Resolves at a possible change, after a while, or on abort. */
  changed(signal: AbortSignal): Promise<void>;
  damageOf(scan: Scan, record: ScanRecord): Promise<EventDamage>;
  /** Rows that may be shown before the end of the scan; absent for all. */
  shownRows?(): number;
}

/** The rows after `after` up to `to`, as events. */
interface EventBatch {
  after: number;
  to: number;
  bytes: number;
  runs: readonly EventRun[];
}

type Current = { scan: Scan | null } | { fault: unknown };

/**
 * Events of a scan, read once for all subscribers: one query per change, and one read of each part of the record for
 * all readers at the same position. A slow reader reads at its own position.
 */
export class ScanFeed {
  readonly #input: FeedInput;
  readonly #onEmpty: () => void;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #held = new Set<HeldBatch>();
  readonly #reading = new Map<number, { version: number; batch: Promise<EventBatch | null> }>();
  /** Newest last. */
  #kept: EventBatch[] = [];
  #current: Current | null = null;
  #damage: Promise<EventDamage> | null = null;
  /** Number of queries so far. */
  #version = 0;
  /** There was nothing after this row at the last query. */
  #end = { row: -1, version: -1 };
  #readers = 0;
  #looking = false;
  #sweep: NodeJS.Timeout | null = null;

  /** @param onEmpty the last reader has gone */
  constructor(input: FeedInput, onEmpty: () => void) {
    this.#input = input;
    this.#onEmpty = onEmpty;
  }

  /** A new reader, to be closed. @param record stays readable until then */
  subscribe(scanId: string, record: ScanRecord): ScanSource & { close(): void } {
    this.#readers += 1;
    this.#sweep ??= setInterval(() => this.#dropStalled(), stallMs).unref();
    let seen = 0;
    let open = true;
    return {
      scanId,
      scan: async () => {
        this.#look();
        if (this.#current === null) await this.#next(this.#version, this.#stop.signal);
        seen = this.#version;
        if (this.#current === null) return null;
        if ('fault' in this.#current) throw this.#current.fault;
        return this.#current.scan;
      },
      changed: async (signal) => await this.#next(seen, signal),
      lastRow: async () => Math.min(await record.lastRow(), this.#shownRows),
      rowsAfter: (row) => this.#rowsAfter(record, row),
      damageOf: (scan) => {
        this.#damage ??= this.#input.damageOf(scan, record);
        return this.#damage;
      },
      close: () => {
        if (open) this.#leave();
        open = false;
      },
    };
  }

  #leave(): void {
    this.#readers -= 1;
    if (this.#readers > 0) return;
    if (this.#sweep) clearInterval(this.#sweep);
    this.#stop.abort();
    this.#onEmpty();
  }

  /** Polls the scan from now on, until it has ended. */
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    // The result of the last query may be outdated.
    this.#current = null;
    void this.#lookUntilOver().finally(() => {
      this.#looking = false;
    });
  }

  async #lookUntilOver(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const current = await this.#read();
      this.#publish(current);
      if ('fault' in current || current.scan === null || isFinal(current.scan.status)) return;
      await this.#input.changed(signal);
    }
  }

  async #read(): Promise<Current> {
    try {
      return { scan: await this.#input.scan() };
    } catch (fault) {
      return { fault };
    }
  }

  #publish(current: Current): void {
    this.#current = current;
    this.#version += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves after the next query, or on abort. */
  async #next(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#version > seen || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener('abort', done);
      this.#waiting.add(done);
    });
  }

  async *#rowsAfter(record: ScanRecord, afterRow: number): AsyncGenerator<EventRun> {
    for (let row = afterRow; ; ) {
      const batch = await this.#batchAfter(record, row);
      if (batch === null) return;
      const held = new HeldBatch(batch, row);
      this.#held.add(held);
      try {
        for (let run = held.next(); run; run = held.next()) yield run;
      } finally {
        this.#held.delete(held);
      }
      row = held.row;
    }
  }

  /** The rows after one, as many as fit into a batch; null if there are none yet. */
  async #batchAfter(record: ScanRecord, row: number): Promise<EventBatch | null> {
    const kept = this.#kept.findLast(({ after, to }) => after <= row && row < to);
    if (kept) return kept;
    const version = this.#version;
    if (this.#end.row === row && this.#end.version === version) return null;
    const same = this.#reading.get(row);
    // An end found before the last query may be outdated.
    if (same?.version === version) return await same.batch;
    const batch = this.#readBatch(record, row, version);
    const reading = { version, batch };
    this.#reading.set(row, reading);
    try {
      return await batch;
    } finally {
      if (this.#reading.get(row) === reading) this.#reading.delete(row);
    }
  }

  async #readBatch(record: ScanRecord, row: number, version: number): Promise<EventBatch | null> {
    const shown = this.#shownRows;
    const { rows } = await record.rowsAfter(row);
    const batch = batchOf(
      row,
      rows.filter(({ sequence }) => sequence <= shown),
    );
    if (batch) this.#keep(batch);
    else this.#end = { row, version };
    return batch;
  }

  get #shownRows(): number {
    const current = this.#current;
    const isOver =
      current !== null && 'scan' in current && current.scan !== null && isFinal(current.scan.status);
    return isOver ? Number.POSITIVE_INFINITY : (this.#input.shownRows?.() ?? Number.POSITIVE_INFINITY);
  }

  #keep(batch: EventBatch): void {
    this.#kept.push(batch);
    let bytes = 0;
    const first = this.#kept.findLastIndex((one) => (bytes += one.bytes) > maxKeptBytes);
    this.#kept = this.#kept.slice(first + 1);
  }

  #dropStalled(): void {
    for (const held of this.#held) held.dropIfStalled();
  }
}

/** The unread part of a batch. */
class HeldBatch {
  /** The last row that was read or skipped. */
  row: number;
  #batch: EventBatch | null;
  #index: number;
  #indexBefore = -1;

  constructor(batch: EventBatch, row: number) {
    this.row = row;
    this.#batch = batch;
    const { runs } = batch;
    const index = runs.findIndex((run) => lastOf(run) > row);
    this.#index = index < 0 ? runs.length : index;
  }

  /** Undefined at the end, and after it was dropped: continue after `row`. */
  next(): EventRun | undefined {
    const run = this.#batch?.runs[this.#index];
    const after = this.row;
    if (run) this.row = lastOf(run);
    else if (this.#batch) this.row = this.#batch.to;
    this.#index += 1;
    const isWhole = (run?.[0]?.id ?? 0) > after;
    return isWhole ? run : run?.filter(({ id = 0 }) => id > after);
  }

  dropIfStalled(): void {
    if (this.#index === this.#indexBefore) this.#batch = null;
    this.#indexBefore = this.#index;
  }
}

function lastOf(run: EventRun): number {
  return run.at(-1)?.id ?? 0;
}

function batchOf(after: number, rows: readonly NumberedLine[]): EventBatch | null {
  const runs: ScanEvent[][] = [];
  let bytes = 0;
  let left = 0;
  let to = after;
  for (const { sequence, line } of rows) {
    if (to > after && bytes + line.length > maxBatchBytes) break;
    bytes += line.length;
    to = sequence;
    const event = eventOfRow(line);
    if (!event) continue;
    left -= line.length;
    if (left < 0 || runs.length === 0) {
      runs.push([]);
      left = maxRunBytes - line.length;
    }
    runs.at(-1)?.push({ event, id: sequence, data: line });
  }
  return rows.length > 0 ? { after, to, bytes, runs } : null;
}

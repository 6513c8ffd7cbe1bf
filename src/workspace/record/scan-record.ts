import type { Readable } from 'node:stream';
import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { RunTime } from './checkpoint.ts';

/**
 * Damage of a record: `missing`, there is none or it is empty; `unfinished`, it has no summary, but every sealed row;
 * `damaged`, rows are lost or changed.
 */
export type RecordDamage = 'missing' | 'unfinished' | 'damaged';

/** A row of the growing record and its number, or the row of the finished record that superseded it. */
export interface NumberedLine {
  sequence: number;
  line: string;
}

/** Names a record to another thread, which opens it with `recordAt`. Plain data. */
export interface RecordPlace {
  /** Path of the folder of the scan. */
  folder: string;
}

/** What can be read of the record of a scan even if it is on another server. */
export interface RowRecord {
  /** For one response; must be closed. */
  open(): Promise<RecordView>;
  /**
   * The rows as returned by `RecordView.rows`; skips damage. A record deleted meanwhile is still read to its end.
   */
  rows(): AsyncGenerator<ResultRow>;
  /** Duration of an unfinished scan by its last checkpoint; null without one, `unknown` if it says nothing. */
  runTime(): Promise<RunTime | 'unknown' | null>;
  /** Whether there is anything of the scan. */
  exists(): Promise<boolean>;
  /** Whether a deletion is in progress, or was interrupted. */
  isRetired(): Promise<boolean>;
}

/** The record of one scan for readers, wherever it lies. Reading writes nothing. */
export interface ScanRecord extends RowRecord {
  readonly place: RecordPlace;
  /** Rows for an index; null without a record. Must be closed. */
  source(): Promise<RecordSource | null>;
  /** The last line of a finished record; null while the scan runs. */
  summary(): Promise<SummaryRow | null>;
  /**
   * A bounded number of rows with a number above `row`, ascending, without the summary. Rows start at 1. Numbers stay
   * valid when the record is finished meanwhile: only rows that were superseded are then skipped.
   * @returns `finished`: the record is finished and these are its last rows
   */
  rowsAfter(row: number): Promise<{ rows: NumberedLine[]; finished: boolean }>;
  /** Number of the last row that `rowsAfter` returns; 0 without any. */
  lastRow(): Promise<number>;
  /** Bytes of the record unless it is packed, then 0. */
  plainBytes(): Promise<number>;
  /** The submission. @throws PortolanError `not_found`, `internal_error` if it is damaged */
  request(): Promise<ScanRequest>;
  /** All files of the scan as tar.gz. @param damage text of `damage.json`, for incomplete results */
  archive(damage: string | null): Promise<Readable>;
}

/** A record that stays readable until it is released. */
export interface HeldRecord {
  record: ScanRecord;
  /** Idempotent. */
  release(): void;
  /** It has the rows of a running scan only: what comes with its end is in the record that is held then. */
  lacksEnd?: boolean;
}

/**
 * A record opened for one response: whatever happens to it meanwhile, summary and rows are consistent and can be read
 * again.
 */
export interface RecordView {
  readonly summary: SummaryRow | null;
  /** Rows of a finished record without its summary, by its index; null if unknown. */
  readonly total: number | null;
  /** Whether there is a record. */
  readonly exists: boolean;
  /** What a verification has found; null = nothing, or none took place. */
  readonly fault: RecordDamage | null;
  /** Takes over what the verification of another view of the same record has found. */
  accept(fault: RecordDamage | null): void;
  /**
   * Verifies every byte of a record that should be intact. Reading then skips the reported damage, and throws at any
   * other.
   */
  verify(): Promise<RecordDamage | null>;
  /**
   * Verification result after reading at most some megabytes: a larger record is verified in the background, for the
   * next call. `page` throws for damage found before that.
   */
  verifyBehindPage(): Promise<RecordDamage | null>;
  /**
   * As `verifyBehindPage`; a larger record is verified while its rows are read, which throws at the first damage.
   * @param onDamage called before that
   */
  verifyWhileReading(onDamage: () => void): Promise<RecordDamage | null>;
  /** Whether event readers find every row of the finished record. */
  hasWholeSequence(): Promise<boolean>;
  /**
   * The rows, each identity once: errors; then hosts by address, each followed by its ports ascending, each port by
   * its findings; findings without a port end the host. No summary. Of a running scan the rows sealed so far.
   * @param damaged whether to return the readable rows of a damaged block, or none
   * @throws PortolanError `internal_error` for damage that `verify` has not reported before
   */
  rows(damaged?: 'readable' | 'none'): AsyncGenerator<ResultRow>;
  /** Rows of a finished record with a number above `after` up to `last`; null if that requires reading all. */
  page(after: number, last: number): Promise<ResultRow[] | null>;
  close(): Promise<void>;
}

/** Where a row is in the text of a record, bytes. */
export interface RowPlace {
  offset: number;
  length: number;
}

/** A row of a record and where it is. */
export interface SourceRow {
  row: ResultRow;
  place: RowPlace;
  /** Its number in the record. */
  number: number;
}

/** The rows of one state of a record: a growing one, or a finished one. */
export interface RecordSource {
  /** Changes when the record is finished, not when it grows or is compressed. */
  readonly identity: string;
  readonly isGrowing: boolean;
  /** Members of a finished record by its summary. */
  readonly expected: { hosts: number; ports: number; findings: number };
  /**
   * The rows behind a number, in the order of the record, in batches of one block each. A batch can be read once, before
   * the next one.
   * @param after 0 except for a growing record
   */
  rows(after: number): AsyncGenerator<Iterable<SourceRow>>;
  /** Bytes of the text of its rows so far; 0 = unknown. */
  textBytes(): Promise<number>;
  /** A row of a record that is not packed. */
  read(place: RowPlace): ResultRow | null;
  /**
   * Members of which each has some places of rows, oldest first, as complete rows.
   * @returns null for one whose bytes are damaged
   */
  members(places: readonly RowPlace[][]): Promise<(ResultRow | null)[]>;
  close(): Promise<void>;
}

import type { RecordDamage, RecordPlace } from '../../workspace/record/scan-record.ts';
import type { ReportFormat } from '../render-report.ts';
import type { ReportFacts, ReportOptions } from '../report-facts.ts';

/** What a thread renders. Plain data. */
export interface ReportJob {
  format: ReportFormat;
  /** Number of one fix; null = all. */
  fix: number | null;
  record: RecordPlace;
  /** Whether there is one: it was deleted if the thread finds none. */
  recorded: boolean;
  /** What its verification has found; other damage ends the report. */
  fault: RecordDamage | null;
  facts: ReportFacts;
  options: ReportOptions;
}

/** Pieces that a thread sends ahead of its reader: all of most reports, so that slow readers hold no thread. */
export const piecesAhead = 32;

/** From the thread. A piece is transferred, not copied. */
export type FromReport =
  | { type: 'piece'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'end' }
  | { type: 'failed'; error: ReportFailure };

/** To the thread: the reader has taken a piece. */
export type ToReport = 'taken';

/** An error, across the border of a thread. `code` is null for one that no user caused. */
export interface ReportFailure {
  code: string | null;
  message: string;
  details: Record<string, unknown>;
  stack: string | null;
}

import type { ScanRequest, StageRecord } from '../domain/scan.ts';
import type { ResultHead } from '../workspace/render/result-head.ts';
import type { ReportChanges } from './model/changes.ts';
import type { ReportTemplate } from './template/report-template.ts';

/** Everything about a scan besides its rows. Plain data: it is passed to the thread that renders. */
export interface ReportFacts extends ResultHead {
  /** Name of the scan, or the `title` of the reporter; null = its first targets, else the scan ID. */
  title: string | null;
  /** Why the scan failed. */
  failure: { code: string; message: string } | null;
  /** Who canceled it, as recorded; null if it was not canceled, or if that is unknown. */
  canceledBy: string | null;
  /** False if the scan did not look for vulnerabilities: then no findings does not mean no vulnerabilities. */
  evaluated: boolean;
  /** ISO 8601 UTC; null before the start, and before the end. */
  startedAt: string | null;
  completedAt: string | null;
  /** Null if it is unknown, as for a record without its request. */
  request: ScanRequest | null;
  stages: StageRecord[];
}

export const papers = ['a4', 'letter'] as const;
export type Paper = (typeof papers)[number];

/** What the user chooses of a report. */
export interface ReportOptions {
  /** Null = the builtin look. */
  template: ReportTemplate | null;
  paper: Paper;
  /** Null without an earlier scan. */
  changes: ReportChanges | null;
  /** ISO 8601 UTC: when the report is made. */
  madeAt: string;
}

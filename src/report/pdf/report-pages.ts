import type { Report } from '../model/report.ts';
import type { ReportSource } from '../report-source.ts';
import type { PageFlow } from './flow/page-flow.ts';

/** What every section draws from, and on. */
export interface ReportPages {
  report: Report;
  source: ReportSource;
  flow: PageFlow;
  /** Color of links. */
  accent: string;
}

/**
 * A section draws itself; it stops after each part, so that what was drawn can be written before the next. Sections
 * that read rows are asynchronous.
 */
export type SectionSteps = Generator<void> | AsyncGenerator<void>;

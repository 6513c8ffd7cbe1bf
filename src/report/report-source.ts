import type { ResultRow } from '../domain/result.ts';
import type { ReportFacts, ReportOptions } from './report-facts.ts';

/** What a renderer gets. */
export interface ReportSource {
  facts: ReportFacts;
  options: ReportOptions;
  /** In record order, one row per identity; may be read any number of times, each time the same. */
  rows(): AsyncIterable<ResultRow>;
}

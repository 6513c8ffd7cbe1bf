import type { ResultRow } from '../src/domain/result.ts';
import type { ReportFacts, ReportOptions } from '../src/report/report-facts.ts';
import type { ReportSource } from '../src/report/report-source.ts';
import { head, stream } from './result-rows.ts';

export const reportOptions: ReportOptions = {
  template: null,
  paper: 'a4',
  changes: null,
  madeAt: '2026-11-21T14:31:00Z',
};

/** A report of these rows: of a scan that reached its end and looked for vulnerabilities, unless `facts` differ. */
export function reportOfRows(
  rows: readonly ResultRow[],
  facts: Partial<ReportFacts> = {},
  options: Partial<ReportOptions> = {},
): ReportSource {
  const usual: ReportFacts = {
    ...head,
    title: null,
    failure: null,
    canceledBy: null,
    evaluated: true,
    startedAt: '2026-10-06T14:30:22Z',
    completedAt: head.timestamp,
    request: null,
    stages: [],
  };
  return {
    facts: { ...usual, ...facts },
    options: { ...reportOptions, ...options },
    rows: () => stream([...rows]),
  };
}

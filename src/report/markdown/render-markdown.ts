import { invalidRequest } from '../../domain/errors.ts';
import { buildReport } from '../model/build-report.ts';
import type { Report } from '../model/report.ts';
import type { ReportSource } from '../report-source.ts';
import { fixTicket } from './fix-ticket.ts';
import { scanTicket } from './scan-ticket.ts';

/**
 * A report as the body of a ticket: CommonMark with tables (GFM), one section at a time.
 *
 * @param fix rank of one action, for a ticket about it alone
 * @throws PortolanError `invalid_request` for a rank that the report does not have
 */
export async function* renderMarkdown(
  { facts, options, rows }: ReportSource,
  fix?: number,
): AsyncGenerator<string> {
  const report = await buildReport(facts, options, rows());
  const sections = fix === undefined ? scanTicket(report) : fixTicket(report, actionOfRank(report, fix));
  let first = true;
  for (const section of sections) {
    yield `${first ? '' : '\n'}${section}\n`;
    first = false;
  }
}

function actionOfRank({ actions }: Report, fix: number) {
  const action = actions.find(({ rank }) => rank === fix);
  if (action) return action;
  const reason =
    actions.length === 0
      ? 'names an action, but the scan has no findings to remove'
      : `must be an integer from 1 to ${actions.length}, the rank of an action in the fix list`;
  throw invalidRequest(`fix ${reason}`, [{ field: 'fix', reason }]);
}

import { type Severity, severities } from '../../domain/finding.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { ReportFacts, ReportOptions } from '../report-facts.ts';
import { oneLine } from './bounded.ts';
import { type Collected, Collection } from './collection.ts';
import { addClasses, noClasses } from './findings/class-counts.ts';
import { methodologyOf } from './methods/methodology.ts';
import type { Report, ReportSummary, SeverityLine } from './report.ts';
import { headlineOf } from './sentences/headline.ts';
import { coverageText, hasEpss, leadsOf } from './sentences/leads.ts';
import { partialText, scanState } from './sentences/scan-state.ts';
import { verdictOf } from './sentences/verdict.ts';

/** Longest title of a report, characters. */
const maxTitleLength = 200;

/** The report of a scan. Reads its rows once, in record order, and keeps one row and the report in memory. */
export async function buildReport(
  facts: ReportFacts,
  options: ReportOptions,
  rows: AsyncIterable<ResultRow>,
): Promise<Report> {
  const collection = new Collection(facts);
  for await (const row of rows) collection.add(row);
  return reportOf(facts, options, collection.finish());
}

function reportOf(facts: ReportFacts, options: ReportOptions, collected: Collected): Report {
  const { actions, kinds, kindsLeft, hosts, services, certificates } = collected;
  const state = scanState(facts);
  // What did not reach its end compares with nothing.
  const changes = state.clause === null ? options.changes : null;
  const summary = summaryOf(collected, changes?.balance ?? null);
  const evaluated = facts.evaluated || summary.findings > 0;
  const coverage = { ...collected.coverage, text: coverageText(collected.coverage) };
  const verdict = verdictOf({ evaluated, state, summary, actions, coverage, services });
  const shown = { ...options, changes };
  const partial = state.clause !== null;
  return {
    facts,
    options: shown,
    title: titleOf(facts, options),
    state: state.clause === null ? state.word : `${state.word}, partial`,
    verdict,
    partial: partialText(facts, state, coverage.ports?.all ?? null),
    headline: headlineOf({ evaluated, partial, summary, services, coverage, options: shown }),
    leads: leadsOf({
      evaluated,
      partial,
      summary,
      actions,
      kinds,
      kindsLeft,
      hosts,
      services,
      certificates,
    }),
    summary,
    actions,
    kinds,
    kindsLeft,
    hosts,
    services,
    certificates,
    compliance: collected.compliance,
    extras: collected.extras,
    extrasLeft: collected.extrasLeft,
    coverage,
    methodology: methodologyOf(facts, {
      changes,
      incomparable: options.changes !== null && changes === null,
      epss: hasEpss(kinds),
    }),
  };
}

function titleOf({ title, scan_id, request }: ReportFacts, { template }: ReportOptions): string {
  const chosen = template?.title ?? title ?? titleOfTargets(request?.targets ?? []);
  return oneLine(chosen, maxTitleLength) || scan_id;
}

/** As lists of scans call one without a name. */
function titleOfTargets([first = '', second, ...more]: readonly string[]): string {
  if (second === undefined) return first;
  return more.length === 0 ? `${first}, ${second}` : `${first}, ${second} and ${more.length} more`;
}

function summaryOf(
  { lines, hosts, services, exploited, exploitedHosts }: Collected,
  balance: Record<Severity, number> | null,
): ReportSummary {
  const classes = noClasses();
  const criticalOrHigh = noClasses();
  const ordered = severities.map((severity): SeverityLine => {
    const { exploited: known, ...counts } = lines[severity];
    addClasses(classes, counts);
    if (severity === 'critical' || severity === 'high') addClasses(criticalOrHigh, counts);
    return { severity, ...counts, exploited: known, change: balance?.[severity] ?? null };
  });
  const counts = ordered.map(({ severity, all }) => [severity, all]);
  return {
    hosts: hosts.all,
    openPorts: services.openPorts,
    findings: classes.all,
    classes,
    severities: Object.fromEntries(counts) as ReportSummary['severities'],
    lines: ordered,
    exploited,
    exploitedHosts,
    criticalOrHigh,
    hostsWithFindings: hosts.withFindings,
  };
}

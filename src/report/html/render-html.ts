import type { ResultRow } from '../../domain/result.ts';
import { inPieces } from '../../workspace/render/pieces.ts';
import { buildReport } from '../model/build-report.ts';
import { hostBlocks } from '../model/host-blocks.ts';
import type { Action, Report } from '../model/report.ts';
import type { ReportSource } from '../report-source.ts';
import { type ContentsEntry, pageEnd, pageStart } from './page.ts';
import { complianceSection, extrasSection } from './sections/compliance.ts';
import { coverageSection } from './sections/coverage.ts';
import { findingsSection } from './sections/findings.ts';
import { fixList } from './sections/fix-list.ts';
import { hostEntry, hostsEnd, hostsStart } from './sections/hosts.ts';
import { certificateCount, certificatesSection, servicesSection } from './sections/inventory.ts';
import { methodologySection } from './sections/methodology.ts';
import { summarySection } from './sections/summary.ts';

/**
 * One self-contained page without scripts. The rows are read three times: for the report, whose size is limited, then
 * for hosts with findings and for those without; one host is in memory at a time.
 */
export async function* renderHtml(source: ReportSource): AsyncGenerator<string> {
  yield* inPieces(page(source));
}

async function* page(source: ReportSource): AsyncGenerator<string> {
  const report = await buildReport(source.facts, source.options, source.rows());
  yield pageStart(report, contentsOf(report)) + summarySection(report);
  if (report.options.template?.brief) {
    yield* fixList({ ...report, actions: firstActions(report) });
    return yield coverageSection(report) + pageEnd(report);
  }
  yield* fixList(report);
  yield* findingsSection(report);
  yield* hostsSection(report, source);
  yield servicesSection(report) +
    certificatesSection(report) +
    complianceSection(report) +
    extrasSection(report);
  yield coverageSection(report) + methodologySection(report) + pageEnd(report);
}

/** Hosts with findings in address order, then those without. */
async function* hostsSection(report: Report, source: ReportSource): AsyncGenerator<string> {
  yield hostsStart(report);
  const { all, withFindings } = report.hosts;
  if (withFindings > 0) yield* hostEntries(report, source.rows(), true);
  if (withFindings < all) yield* hostEntries(report, source.rows(), false);
  yield hostsEnd(report);
}

async function* hostEntries(
  report: Report,
  rows: AsyncIterable<ResultRow>,
  withFindings: boolean,
): AsyncGenerator<string> {
  for await (const block of hostBlocks(report, rows)) {
    if (block.findings.length > 0 === withFindings) yield hostEntry(block);
  }
}

/** Links to findings and hosts would lead nowhere. */
function firstActions({ actions }: Report): Action[] {
  return actions.slice(0, 5).map((action) => ({ ...action, kinds: [], places: [], placesLeft: 0 }));
}

const briefSections = ['summary', 'fixes', 'coverage'];

function contentsOf(report: Report): ContentsEntry[] {
  const { actions, summary, hosts, services, certificates, compliance, extras } = report;
  const controls = compliance.reduce((sum, { controls: listed }) => sum + listed.length, 0);
  const entries: (ContentsEntry & { shown: boolean })[] = [
    { id: 'summary', name: 'Summary', count: null, shown: true },
    { id: 'fixes', name: 'Fix list', count: actions.length, shown: actions.length > 0 },
    { id: 'findings', name: 'Findings', count: summary.findings, shown: true },
    { id: 'hosts', name: 'Hosts', count: hosts.all, shown: true },
    { id: 'services', name: 'Services', count: services.openPorts, shown: services.openPorts > 0 },
    {
      id: 'certificates',
      name: 'Certificates',
      count: certificateCount(certificates),
      shown: certificates.read > 0,
    },
    { id: 'compliance', name: 'Compliance', count: controls, shown: compliance.length > 0 },
    {
      id: 'extra',
      name: 'Values of plugins',
      count: extras.length + report.extrasLeft,
      shown: extras.length > 0,
    },
    { id: 'coverage', name: 'Coverage', count: null, shown: true },
    { id: 'methodology', name: 'Methodology', count: null, shown: true },
  ];
  const { template } = report.options;
  return entries.filter(({ id, shown }) => shown && (!template?.brief || briefSections.includes(id)));
}

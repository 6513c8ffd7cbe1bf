import { describe, expect, it } from 'vitest';
import { hostileRows, text } from '../../../test/result-rows.ts';
import { classOf, findingClasses, noFindings, type Severity, severities } from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import { isOpen, type ResultRow } from '../../domain/result.ts';
import { renderJson } from '../../workspace/render/json.ts';
import { streamOf } from '../fixtures/report-of-rows.ts';
import { type SyntheticScanOptions, syntheticScan } from '../fixtures/synthetic-scan.ts';
import type { ReportOptions } from '../report-facts.ts';
import { buildReport } from './build-report.ts';
import { shortId } from './findings/seen-finding.ts';
import { hostBlocks } from './host-blocks.ts';
import type { ClassCounts, HostBlock, Report } from './report.ts';

const options: ReportOptions = { template: null, paper: 'a4', changes: null, madeAt: '2026-11-21T14:31:00Z' };

async function madeOf(scan: ReturnType<typeof syntheticScan>) {
  const report = await buildReport(scan.facts, options, scan.rows());
  const blocks: HostBlock[] = [];
  for await (const block of hostBlocks(report, scan.rows())) blocks.push(block);
  return { report, blocks };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const counts = (classes: ClassCounts) => sum(findingClasses.map((name) => classes[name]));

/** What the rows say, counted another way. */
async function counted(rows: AsyncIterable<ResultRow>) {
  const found = {
    hosts: new Set<string>(),
    ports: 0,
    severities: noFindings(),
    classes: new Map<string, number>(),
  };
  const hostsWithFindings = new Set<string>();
  const kinds = new Map<string, { findings: number; hosts: Set<string> }>();
  for await (const row of rows) {
    if (row.type === 'host') found.hosts.add(row.host);
    if (row.type === 'port' && isOpen(row)) found.ports += 1;
    if (row.type !== 'vulnerability') continue;
    const severity = countsAs(row.vulnerability);
    const name = classOf(row.vulnerability);
    found.severities[severity] += 1;
    found.classes.set(name, (found.classes.get(name) ?? 0) + 1);
    hostsWithFindings.add(row.host);
    const key = `${severity} ${shortId(row.vulnerability.id)}`;
    const kind = kinds.get(key) ?? { findings: 0, hosts: new Set() };
    kind.findings += 1;
    kind.hosts.add(row.host);
    kinds.set(key, kind);
  }
  return { ...found, hostsWithFindings, kinds };
}

function expectSums({ summary, actions, kinds, kindsLeft, services, hosts, coverage }: Report): void {
  const classSums = [summary.classes, summary.exploited, summary.exploitedHosts, summary.criticalOrHigh];
  const all = [
    ...classSums,
    ...summary.lines,
    ...kinds.map((kind) => kind.counts),
    ...actions.map((a) => a.classes),
  ];
  for (const classes of all) expect(counts(classes)).toBe(classes.all);
  expect(sum(summary.lines.map((line) => line.all))).toBe(summary.findings);
  expect(sum(summary.lines.map((line) => line.exploited))).toBe(summary.exploited.all);
  expect(sum(actions.map((action) => action.findings))).toBe(summary.findings);
  expect(sum(kinds.map((kind) => kind.counts.all)) + kindsLeft.findings).toBe(summary.findings);
  expect(sum(hosts.networks.map((network) => network.findings))).toBe(summary.findings);
  expect(sum(hosts.networks.map((network) => network.hosts))).toBe(hosts.all);
  for (const action of actions) {
    expect(sum(severities.map((severity) => action.severities[severity]))).toBe(action.findings);
    expect(action.classes.all).toBe(action.findings);
  }
  for (const kind of kinds) {
    expect(kind.places.length + kind.placesLeft).toBe(kind.counts.all);
    expect(sum(kind.networks.map((network) => network.findings))).toBe(kind.counts.all);
    expect(actions[kind.action - 1]?.kinds).toContain(kind);
  }
  expect(sum(services.names.map((name) => name.ports)) + services.otherPorts + services.unrecognized).toBe(
    services.openPorts,
  );
  if (coverage.ports === null) return;
  const { tcp, udp, all: both } = coverage.ports;
  for (const ports of [tcp, udp, both])
    expect(ports.open + ports.closed + ports.filtered + ports.notTried).toBe(ports.planned);
  expect(tcp.planned + udp.planned).toBe(both.planned);
}

const scans: [string, SyntheticScanOptions][] = [
  ...Array.from({ length: 30 }, (_, index): [string, SyntheticScanOptions] => [
    `seed ${index + 1}`,
    {
      seed: index + 1,
      hosts: 1 + ((index * 7) % 40),
      ipv6: index % 3 === 0 ? 0.3 : 0,
      networks: 1 + (index % 3),
    },
  ]),
  ['without hosts', { hosts: 0 }],
  ['without findings', { hosts: 12, findings: 0 }],
  ['canceled', { hosts: 20, canceled: true }],
  ['hostile', { hosts: 20, hostile: true, errors: 3, extras: 4, compliance: true }],
];

/** A scan with an odd text everywhere. */
function hostileScan(text: string) {
  return {
    facts: { ...syntheticScan({ hosts: 1 }).facts, title: text },
    rows: () => streamOf(hostileRows(text)),
  };
}

interface JsonHost {
  ports: { vulnerabilities?: { severity: Severity }[] }[];
  vulnerabilities?: { severity: Severity }[];
}

describe('the title of a report', () => {
  const { facts } = syntheticScan({ hosts: 1 });
  it.each([
    [['192.0.2.0/28'], '192.0.2.0/28'],
    [['192.0.2.1', 'a.example', 'b.example', 'c.example'], '192.0.2.1, a.example and 2 more'],
    [[], facts.scan_id],
  ])('without a name says the targets: %s', async (targets, title) => {
    const request = facts.request && { ...facts.request, targets };
    const report = await buildReport({ ...facts, title: null, request }, options, streamOf([]));
    expect(report.title).toBe(title);
  });
});

describe('counts of a report', () => {
  it('equal those of the JSON of the same scan', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const scan = syntheticScan({
        seed,
        hosts: seed * 2,
        findings: seed * 9,
        canceled: seed % 5 === 0,
        ipv6: 0.2,
      });
      const { summary } = (await madeOf(scan)).report;
      const json = JSON.parse(await text(renderJson(scan.facts, scan.rows())));
      const hosts: JsonHost[] = json.results;
      const ports = hosts.flatMap((host) => host.ports);
      const found = [...hosts, ...ports].flatMap(({ vulnerabilities = [] }) => vulnerabilities);
      expect([summary.hosts, summary.openPorts, summary.findings]).toEqual([
        hosts.length,
        ports.length,
        found.length,
      ]);
      expect(found.length).toBe(seed * 9);
      for (const severity of severities)
        expect(summary.severities[severity]).toBe(found.filter((each) => countsAs(each) === severity).length);
      expect(summary.severities).toEqual(json.summary.severity_counts);
    }
  });

  it.each([
    ['a name of a prototype', '__proto__'],
    ['another', 'constructor'],
    ['nothing', ''],
    ['control characters', '\0\u202e<script>'],
    ['300,000 characters', 'x'.repeat(300_000)],
  ])('of a scan that says %s everywhere add up', async (_what, odd) => {
    const { report, blocks } = await madeOf(hostileScan(odd));
    expectSums(report);
    expect(report.summary.findings).toBe(3);
    expect(blocks.length).toBe(1);
    expect(JSON.stringify({ ...report, facts: null }).length).toBeLessThan(200_000);
    expect(JSON.stringify(blocks).length).toBeLessThan(200_000);
  });

  it.each(scans)('of the scan %s are those of its rows, and add up', async (_name, scanOptions) => {
    const scan = syntheticScan(scanOptions);
    const { report, blocks } = await madeOf(scan);
    const rows = await counted(scan.rows());
    const { summary } = report;
    expect(summary.severities).toEqual(rows.severities);
    for (const name of findingClasses) expect(summary.classes[name]).toBe(rows.classes.get(name) ?? 0);
    expect(summary.hosts).toBe(rows.hosts.size);
    expect(summary.openPorts).toBe(rows.ports);
    expect(summary.hostsWithFindings).toBe(rows.hostsWithFindings.size);
    expect(report.kinds.length).toBe(rows.kinds.size);
    for (const kind of report.kinds) {
      const known = rows.kinds.get(`${kind.severity} ${kind.id}`);
      expect({ findings: kind.counts.all, hosts: kind.hosts }).toEqual({
        findings: known?.findings,
        hosts: known?.hosts.size,
      });
    }
    expectSums(report);
    expect(blocks.map((block) => block.position)).toEqual(blocks.map((_, index) => index));
    expect(blocks.length).toBe(summary.hosts);
    expect(sum(blocks.map((block) => block.openPorts))).toBe(summary.openPorts);
    for (const severity of severities)
      expect(sum(blocks.map((block) => block.severities[severity]))).toBe(summary.severities[severity]);
  });
});

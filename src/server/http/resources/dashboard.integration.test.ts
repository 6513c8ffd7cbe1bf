import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noFindings, type Severity } from '../../../domain/finding.ts';
import { scanRequest } from '../../../domain/fixtures/scan-request.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { openRecord } from '../../../workspace/record/record-writer.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeEach(async () => {
  service = await openService({ 'multi_tenant.enabled': true, 'multi_tenant.tenants': 'acme,globex' });
});
afterEach(() => service.close());

let scans = 0;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

interface Run {
  name: string | null;
  days: number;
  targets?: string[];
  /** By host. */
  findings?: Record<string, Finding[]>;
  version?: string;
  hosts?: string[];
  vuln?: boolean;
  exclude?: string[];
}
type Finding = { id: string; severity: Severity; kev?: boolean };

/** A completed scan of acme with a real record. */
async function ran({
  name,
  days,
  targets = ['10.0.0.0/24'],
  findings = {},
  version = '1.0',
  hosts = ['10.0.0.1', '10.0.0.2'],
  vuln = true,
  exclude = [],
}: Run): Promise<string> {
  const timestamp = daysAgo(days);
  const scan_id = `20260101-000000-${(++scans).toString(16).padStart(6, '0')}`;
  const store = service.store.forTenant('acme');
  const request = scanRequest({ scan_id, created_at: timestamp, targets, name, vuln, exclude });
  const folder = service.workspace.forTenant('acme').scan(scan_id);
  await folder.create(request);
  await store.scans.insert(request);
  const record = await openRecord(folder);
  const counts = noFindings();
  for (const row of rowsOf(hosts, findings, timestamp, version)) {
    await record.append(row);
    if (row.type === 'vulnerability') counts[row.vulnerability.severity] += 1;
  }
  const results = { live_hosts: 2, open_ports: 2, vulnerabilities: 0 };
  await record.finish({
    type: 'summary',
    timestamp,
    host: null,
    scan_id,
    status: 'completed',
    partial: false,
    ...results,
    addresses_scanned: 254,
    excluded: 0,
    severity_counts: counts,
    duration_seconds: 1,
    catalogue_version: '1',
  });
  await record.close();
  await store.scans.update(scan_id, { status: 'running', started_at: timestamp });
  const stages = ['icmp_discovery', 'connect_scanner', 'misconfig_checker'].map((name) =>
    stage(name, timestamp),
  );
  await store.scans.update(scan_id, {
    status: 'completed',
    completed_at: timestamp,
    severity_counts: counts,
    results,
    stages,
  });
  return scan_id;
}

function* rowsOf(
  hosts: string[],
  findings: NonNullable<Run['findings']>,
  timestamp: string,
  version: string,
): Generator<ResultRow> {
  for (const host of hosts) {
    const port_counts = { open: 1, closed: 999, filtered: 0, not_tried: 0 };
    yield {
      type: 'host',
      timestamp,
      host,
      state: 'up',
      hostnames: [`h${host.slice(-1)}`],
      port_counts,
    } as HostRow;
    const service = { name: 'http', product: 'nginx', vendor: null, version, cpe: null, confidence: 1 };
    yield {
      type: 'port',
      timestamp,
      host,
      port: 80,
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
      service,
    } as PortRow;
    for (const one of findings[host] ?? []) yield findingRow(host, timestamp, one);
  }
}

function findingRow(
  host: string,
  timestamp: string,
  { id, severity, kev = false }: Finding,
): VulnerabilityRow {
  const vulnerability = {
    id,
    title: `Title of ${id}`,
    severity,
    cvss: null,
    kev,
    epss: null,
    cpe: null,
    affected: null,
    detected: null,
    confidence: 1,
    backport_note: null,
    class: 'certain' as const,
    evidence: '',
    remediation: `Repair ${id}.`,
    references: [],
    plugin: 'misconfig_checker',
  };
  return { type: 'vulnerability', timestamp, host, port: 80, protocol: 'tcp', vulnerability };
}

function stage(module_type: string, at: string): StageRecord {
  const counts = { items_in: 0, items_out: 0, error: null };
  return {
    instance_id: module_type,
    module_type,
    status: 'completed',
    started_at: at,
    completed_at: at,
    ...counts,
  };
}

async function read(tenant = 'acme') {
  const response = await service.app.inject({ url: '/api/v1/dashboard', headers: { 'x-tenant-id': tenant } });
  expect([response.statusCode, response.body.slice(0, 500)]).toEqual([200, expect.any(String)]);
  return response.json().data;
}

/** Once everything is computed. */
async function dashboard(tenant = 'acme') {
  await expect.poll(async () => (await read(tenant)).pending).toBe(false);
  return await read(tenant);
}

describe('GET /api/v1/dashboard', () => {
  it('is empty without scans', async () => {
    const data = await dashboard();
    expect(data).toMatchObject({ series: [], fixes: [], not_comparable: 0, pending: false });
    expect(data.totals.critical).toEqual({ count: 0, change: 0, hosts: 0 });
    expect(data.trend).toEqual([]);
  });

  it('shows the latest run of each series, what changed since the one before, and what to fix first', async () => {
    const [high, old, exploited] = [
      { id: 'A-1', severity: 'high' },
      { id: 'B-2', severity: 'medium' },
      { id: 'C-3', severity: 'critical', kev: true },
    ] as const satisfies Finding[];
    const before = await ran({
      name: 'berlin',
      days: 3,
      findings: { '10.0.0.1': [high], '10.0.0.2': [old] },
    });
    const latest = await ran({
      name: 'berlin',
      days: 1,
      version: '1.1',
      findings: { '10.0.0.1': [high], '10.0.0.2': [high, exploited] },
    });
    const other = await ran({ name: null, days: 2, targets: ['10.0.0.1', '10.0.0.2'] });
    const data = await dashboard();
    expect(data.series).toMatchObject([
      {
        name: 'berlin',
        scan: { scan_id: latest },
        previous: before,
        changes: { new: 2, fixed: 1, changed: 2, not_comparable: 0 },
        stands_out: { severity: 'critical', text: 'Title of C-3 on 10.0.0.2', exploited: true },
        pending: false,
      },
      {
        name: null,
        targets: ['10.0.0.1', '10.0.0.2'],
        scan: { scan_id: other },
        previous: null,
        changes: null,
      },
    ]);
    expect(data.totals).toMatchObject({
      critical: { count: 1, change: 1, hosts: 1 },
      high: { count: 2, change: 1, hosts: 2 },
      medium: { count: 0, change: -1, hosts: 0 },
    });
    expect(data.trend.at(-1)).toMatchObject({ critical: 1, high: 2 });
    expect(data.trend.at(-3)).toMatchObject({ critical: 0, high: 1 });
    // Nothing is known of the days before the first run.
    expect(data.trend).toHaveLength(4);
    expect(data.fixes).toMatchObject([
      {
        text: 'Repair C-3',
        severity: 'critical',
        exploited: true,
        class: 'certain',
        hosts: 1,
        findings: 1,
        host_sample: [{ host: '10.0.0.2', name: 'h2' }],
        scan_id: latest,
      },
      { text: 'Repair A-1', hosts: 2, findings: 2 },
    ]);
    expect(await dashboard('globex')).toMatchObject({ series: [], fixes: [] });
  });

  it('counts each address once, by its newest evaluated run', async () => {
    const [critical, high, other] = [
      { id: 'A', severity: 'critical' },
      { id: 'B', severity: 'high' },
      { id: 'C', severity: 'high' },
    ] as const satisfies Finding[];
    const all = { '10.0.0.1': [critical, high], '10.0.0.2': [critical] };
    await ran({ name: 'network', days: 4, findings: all, exclude: ['10.0.0.254'] });
    await ran({
      name: 'one host',
      days: 3,
      targets: ['10.0.0.1'],
      findings: { '10.0.0.1': [critical, high] },
    });
    await ran({
      name: 'one host',
      days: 2,
      targets: ['10.0.0.1'],
      findings: { '10.0.0.1': [critical, other] },
    });
    await ran({ name: 'again', days: 1, targets: ['10.0.0.1'], findings: { '10.0.0.1': [critical, other] } });
    await ran({ name: 'ports only', days: 0.5, vuln: false });
    const data = await dashboard();
    expect(data.totals).toMatchObject({
      critical: { count: 2, hosts: 2 },
      // What `one host` says of it, `again` counts.
      high: { count: 1, hosts: 1, change: 0 },
    });
    expect(data.counted).toMatchObject({ scans: 2, addresses: 253, names: 0 });
    expect(Date.parse(data.counted.oldest)).toBeLessThan(Date.now() - 3.5 * 86_400_000);
    expect(data.fixes[0]).toMatchObject({ text: 'Repair A', hosts: 2, findings: 2 });
    expect(data.trend.at(-1)).toMatchObject({ critical: 2, high: 1 });
  });

  it('counts the host of a name once, wherever else it was a target', async () => {
    const finding = { id: 'A', severity: 'high' } as const;
    await ran({ name: 'network', days: 2, findings: { '10.0.0.1': [finding], '10.0.0.2': [finding] } });
    const host = { targets: ['h1.example'], hosts: ['10.0.0.1'], findings: { '10.0.0.1': [finding] } };
    await ran({ name: 'by name', days: 1, ...host });
    const data = await dashboard();
    expect(data.totals.high).toMatchObject({ count: 2, hosts: 2 });
    expect(data.counted).toMatchObject({ scans: 2, addresses: 254, names: 1 });
  });

  it('has the six series with the newest runs, and says what stands out where nothing is new', async () => {
    for (let index = 1; index <= 8; index++) await ran({ name: `series ${index}`, days: 10 - index });
    await ran({ name: 'series 1', days: 0.5 });
    const { series } = await dashboard();
    expect(series.map(({ name }: { name: string }) => name)).toEqual(
      [1, 8, 7, 6, 5, 4].map((n) => `series ${n}`),
    );
    expect(series[0].stands_out).toEqual({ severity: null, text: 'No change', exploited: false });
    await ran({ name: 'series 1', days: 0.1, version: '2.0' });
    const first = async () => (await dashboard()).series[0].stands_out.text;
    await expect.poll(first).toBe('nginx updated from 1.0 to 2.0 on 10.0.0.1, port 80');
  });

  it('counts hosts that were not among the targets as not comparable', async () => {
    await ran({ name: 'x', days: 2, targets: ['10.0.0.1'], hosts: ['10.0.0.1'] });
    await ran({ name: 'x', days: 1, targets: ['10.0.0.0/24'] });
    const data = await dashboard();
    expect(data.series[0].changes).toMatchObject({ not_comparable: 1 });
    expect(data.not_comparable).toBe(1);
  });

  it('does without what cannot be read', async () => {
    await ran({ name: 'x', days: 2 });
    const latest = await ran({
      name: 'x',
      days: 1,
      findings: { '10.0.0.1': [{ id: 'A', severity: 'low' }] },
    });
    const { rm } = await import('node:fs/promises');
    await rm(service.workspace.forTenant('acme').scan(latest).path, { recursive: true });
    expect(await dashboard()).toMatchObject({ pending: false, totals: { low: { count: 1 } } });
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { noFindings, type Severity } from '../../domain/finding.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { openStore, type Store } from '../../store/open.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { chooseReport } from './choose-report.ts';
import { StoredHighlights } from './stored-highlights.ts';

let dir: string;
let store: Store;
let workspace: Workspace;
let config: Config;
let catalogue: ModuleCatalog;
let scans = 0;
let faults: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-report-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
  config = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml'), flags: {} }).config;
  const registry = new Registry();
  await registerModules(registry, fileURLToPath(new URL('../../modules', import.meta.url)));
  const profiles = fileURLToPath(new URL('../../../profiles', import.meta.url));
  catalogue = { registry, library: await GraphLibrary.load(profiles, 'builtin', registry) };
});
beforeEach(() => {
  faults = [];
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const timestamp = '2026-10-06T14:30:24.010Z';
const probing = { status: 'completed', started_at: timestamp, completed_at: timestamp } as const;
const stages = ['connect_scanner', 'misconfig_checker'];

/** One open port with these findings, as `id severity`, on each host. */
function rowsOf(hosts: Record<string, string[]>): ResultRow[] {
  const port_counts = { open: 1, closed: 999, filtered: 0, not_tried: 0 };
  const place = { port: 443, protocol: 'tcp', timestamp } as const;
  return Object.entries(hosts).flatMap(([host, findings]): ResultRow[] => [
    { type: 'host', timestamp, host, state: 'up', port_counts },
    { type: 'port', ...place, host, state: 'open', reason: 'syn-ack', service: null },
    ...findings.map((text): ResultRow => {
      const [id = '', severity] = text.split(' ');
      const vulnerability = {
        id,
        title: `title of ${id}`,
        severity: severity as Severity,
        cvss: null,
        kev: false,
        epss: null,
        cpe: null,
        affected: null,
        detected: null,
        confidence: 1,
        backport_note: null,
        class: 'likely' as const,
        evidence: 'a banner',
        remediation: '',
        references: [],
        plugin: 'test',
      };
      return { type: 'vulnerability', ...place, host, vulnerability };
    }),
  ]);
}

interface Given {
  targets?: string[];
  job?: string;
  failed?: boolean;
}

/** An ended scan with a record: the next run of the job, if one is named. */
async function scanned(hosts: Record<string, string[]>, { targets, job, failed }: Given = {}): Promise<Scan> {
  const scan_id = `20261006-143022-${String(++scans).padStart(6, '0')}`;
  const request = scanRequest({
    scan_id,
    created_at: timestamp,
    targets: targets ?? ['10.0.0.0/24'],
    vuln: true,
    name: job ?? null,
    // Scans of the same targets are of one series only in the same job.
    profile: job ?? scan_id,
  });
  const folder = workspace.scan(scan_id);
  await folder.create(request);
  await store.scans.insert(request);
  if (job !== undefined) await startRun(job, scan_id);
  await store.scans.update(scan_id, { status: 'running', started_at: timestamp });
  const rows = rowsOf(hosts);
  const severity_counts = noFindings();
  for (const row of rows) if (row.type === 'vulnerability') severity_counts[row.vulnerability.severity]++;
  const record = await openRecord(folder);
  for (const row of rows) await record.append(row);
  await record.seal();
  const status = failed ? 'failed' : 'completed';
  const results = { live_hosts: 1, open_ports: 1, vulnerabilities: 1 };
  await record.finish({
    type: 'summary',
    timestamp,
    host: null,
    scan_id,
    status,
    partial: false,
    ...results,
    addresses_scanned: 254,
    excluded: 0,
    severity_counts,
    duration_seconds: 1,
    catalogue_version: '1',
  });
  await record.close();
  await store.scans.update(scan_id, {
    status,
    completed_at: timestamp,
    severity_counts,
    stages: stages.map((name) => ({
      instance_id: name,
      module_type: name,
      items_in: 0,
      items_out: 0,
      error: null,
      ...probing,
    })),
  });
  const scan = await store.scans.get(scan_id);
  if (scan === null) throw new Error('the scan is gone');
  return scan;
}

async function startRun(job_id: string, scanId: string): Promise<void> {
  if (!(await store.clientJobs.isTaken(job_id)))
    await store.clientJobs.insert({
      job_id,
      created_at: timestamp,
      type: 'scan',
      pool: 'default',
      priority: 5,
      name: null,
      schedule: '0 3 * * *',
      zone: 'UTC',
      next_run_at: timestamp,
      created_by: null,
      params: { targets: ['10.0.0.0/24'] },
    });
  // Ids rise from run to run, and so do the times they are for.
  const fireAt = `2026-10-06T14:${scanId.slice(-2)}:00.000Z`;
  await store.jobRuns.startRun(job_id, { fireAt, scanId, now: timestamp, next: timestamp });
}

const channel = 'slack://a';

async function report(scan: Scan, rule: { only_changes?: boolean; min_severity?: Severity } = {}) {
  const onFault = (error: unknown) => void faults.push((error as Error).message);
  const holdRecord = async ({ scan_id }: Scan) => ({
    record: recordIn(workspace.scan(scan_id)),
    release: () => undefined,
  });
  const input = { store, config, catalogueOf: () => catalogue, holdRecord, onFault };
  const highlights = new StoredHighlights(input, new AbortController().signal);
  const whole = { channels: [channel], events: [], min_severity: null, only_changes: false, ...rule };
  return await chooseReport({ rules: [whole], webhooks: [] }, highlights, scan, channel);
}

describe('a report of an ended scan', () => {
  it('names the five worst findings, without their evidence', async () => {
    const scan = await scanned({
      '10.0.0.1': ['a low', 'b critical', 'c info'],
      '10.0.0.2': ['d high', 'e medium', 'f critical'],
    });
    const found = await report(scan);
    expect(found).toMatchObject({ event: 'scan.completed', changes: null });
    const named = 'unusable' in found ? [] : found.worst_findings.map(({ id, host }) => `${id} ${host}`);
    expect(named).toEqual(['b 10.0.0.1', 'f 10.0.0.2', 'd 10.0.0.2', 'e 10.0.0.2', 'a 10.0.0.1']);
    expect(JSON.stringify(found)).not.toContain('banner');
  });

  it('is sent without findings when the record cannot be read, and says so to the log', async () => {
    const scan = await scanned({ '10.0.0.1': ['a high'] });
    await rm(workspace.scan(scan.scan_id).path, { recursive: true });
    expect(await report(scan)).toMatchObject({ event: 'scan.completed', worst_findings: [] });
    const changes = { against: null, new_count: 1, new_findings: [] };
    expect(await report(scan, { only_changes: true })).toMatchObject({ event: 'scan.changed', changes });
  });

  it('is not sent below the severity of the rule', async () => {
    const scan = await scanned({ '10.0.0.1': ['a medium'] });
    const unusable = 'no finding of severity high or worse';
    expect(await report(scan, { min_severity: 'high' })).toEqual({ unusable });
    expect(await report(scan, { min_severity: 'high', only_changes: true })).toEqual({ unusable });
    expect(await report(scan, { min_severity: 'medium' })).toMatchObject({ event: 'scan.completed' });
  });
});

describe('a report of changes', () => {
  const onlyChanges = { only_changes: true };

  it('of a first run says everything, also that nothing was found', async () => {
    const first = await scanned({ '10.0.0.1': ['a high', 'b low'] }, { job: 'job-00000001' });
    expect(await report(first, onlyChanges)).toMatchObject({
      event: 'scan.changed',
      changes: { against: null, new_count: 2, fixed_count: 0, new_findings: [{ id: 'a' }, { id: 'b' }] },
    });
    const empty = await scanned({ '10.0.0.1': [] });
    expect(await report(empty, onlyChanges)).toMatchObject({ changes: { new_count: 0 } });
  });

  it('compares with the last completed run of the same name, and is silent when nothing is new', async () => {
    const job = 'job-00000002';
    const first = await scanned({ '10.0.0.1': ['a high', 'b low'] }, { job });
    await scanned({ '10.0.0.1': ['x critical'] }, { job, failed: true });
    await scanned({ '10.0.0.1': ['y critical'] }, { job: 'job-00000003' });
    const same = await scanned({ '10.0.0.1': ['a high', 'b low'] }, { job });
    expect(await report(same, onlyChanges)).toEqual({ unusable: `nothing new since ${first.scan_id}` });
    const changed = await scanned({ '10.0.0.1': ['b low', 'c critical', 'd medium'] }, { job });
    expect(await report(changed, onlyChanges)).toMatchObject({
      changes: {
        against: same.scan_id,
        new_count: 2,
        fixed_count: 1,
        not_comparable_hosts: 0,
        new_findings: [{ id: 'c' }, { id: 'd' }],
        fixed_findings: [{ id: 'a' }],
      },
    });
    expect(await report(changed, { ...onlyChanges, min_severity: 'critical' })).toMatchObject({
      changes: { new_count: 1, fixed_count: 0 },
    });
    expect(faults).toEqual([]);
  });

  it('counts hosts that are not comparable; their findings are never fixed, and those never seen are new', async () => {
    const job = 'job-00000004';
    await scanned({ '10.0.0.1': ['a high'], '10.0.0.2': ['b high'] }, { job, targets: ['10.0.0.0/30'] });
    const later = await scanned(
      { '10.0.0.1': ['a high'], '10.0.1.1': ['c critical'] },
      { job, targets: ['10.0.0.1', '10.0.1.1'] },
    );
    expect(await report(later, onlyChanges)).toMatchObject({
      changes: { new_count: 1, fixed_count: 0, not_comparable_hosts: 2, new_findings: [{ id: 'c' }] },
    });
  });

  it('compares with the run before one that was deleted', async () => {
    const job = 'job-00000006';
    const first = await scanned({ '10.0.0.1': ['a high'] }, { job });
    const second = await scanned({ '10.0.0.1': ['a high', 'b low'] }, { job });
    const third = await scanned({ '10.0.0.1': ['a high', 'b low'] }, { job });
    await store.scans.delete(second.scan_id);
    expect(await report(third, onlyChanges)).toMatchObject({
      changes: { against: first.scan_id, new_count: 1, fixed_count: 0, new_findings: [{ id: 'b' }] },
    });
    await store.scans.delete(first.scan_id);
    expect(await report(third, onlyChanges)).toMatchObject({ changes: { against: null, new_count: 2 } });
  });

  it('says everything when the earlier record is lost', async () => {
    const job = 'job-00000005';
    const first = await scanned({ '10.0.0.1': ['a high'] }, { job });
    const second = await scanned({ '10.0.0.1': ['a high'] }, { job });
    await rm(workspace.scan(first.scan_id).path, { recursive: true });
    expect(await report(second, onlyChanges)).toMatchObject({
      event: 'scan.changed',
      changes: { new_count: 1, fixed_count: 0, new_findings: [{ id: 'a' }] },
    });
  });
});

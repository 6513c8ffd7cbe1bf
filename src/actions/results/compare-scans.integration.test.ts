import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { Finding, Severity } from '../../domain/finding.ts';
import { noFindings } from '../../domain/finding.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { HostRow, PortRow, ResultRow } from '../../domain/result.ts';
import type { Scan, ScanRequest, StageRecord } from '../../domain/scan.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { defineModule } from '../../engine/module.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { countRows } from '../../scan-run/results/stream-results.ts';
import { openStore, type Store } from '../../store/open.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { compareScans, renderComparison } from './compare-scans.ts';

let dir: string;
let store: Store;
let workspace: Workspace;
let config: Config;
let catalogue: ModuleCatalog;
let scans = 0;
const recordOf = async ({ scan_id }: Scan) => recordIn(workspace.scan(scan_id));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-diff-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
  config = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml'), flags: {} }).config;
  const registry = new Registry();
  await registerModules(registry, fileURLToPath(new URL('../../modules', import.meta.url)));
  if (!registry.get('test_evaluator')) registry.register(evaluator, 'builtin');
  const profiles = fileURLToPath(new URL('../../../profiles', import.meta.url));
  catalogue = { registry, library: await GraphLibrary.load(profiles, 'builtin', registry) };
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const evaluator = defineModule({
  name: 'test_evaluator',
  type: 'evaluation',
  version: '1.0.0',
  description: 'Stands for a module that looks for vulnerabilities.',
  options: {},
  requires: ['open_ports'],
  provides: ['vulnerabilities'],
  execute: async () => undefined,
});

const timestamp = '2026-10-06T14:30:24.010Z';

function host(address: string, more: Partial<HostRow> = {}): HostRow {
  const port_counts = { open: 1, closed: 999, filtered: 0, not_tried: 0 };
  return { type: 'host', timestamp, host: address, state: 'up', port_counts, ...more };
}

function port(address: string, number: number, product: string | null = null, version: string | null = null) {
  const service = { name: 'http', product, vendor: null, version, cpe: null, confidence: 1 };
  const row: PortRow = {
    type: 'port',
    timestamp,
    host: address,
    port: number,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    service,
  };
  return row;
}

function finding(
  address: string,
  number: number | null,
  id: string,
  severity: Severity = 'high',
  plugin = 'test_evaluator',
): ResultRow {
  const vulnerability: Finding = {
    id,
    title: id,
    severity,
    cvss: null,
    kev: false,
    epss: null,
    cpe: null,
    affected: null,
    detected: null,
    confidence: 1,
    backport_note: null,
    class: 'likely',
    evidence: '',
    remediation: '',
    references: [],
    plugin,
  };
  const protocol = number === null ? null : 'tcp';
  return { type: 'vulnerability', timestamp, host: address, port: number, protocol, vulnerability };
}

type Given = Partial<ScanRequest> & {
  rows: ResultRow[];
  failed?: boolean;
  running?: boolean;
  evaluated?: boolean;
  /** Modules that looked for vulnerabilities, with their versions. */
  checks?: Record<string, string>;
  catalogVersion?: string;
};

/** A scan with a real record. */
async function scanned({
  rows,
  failed,
  running,
  evaluated,
  checks = evaluated ? { test_evaluator: '1.0.0' } : {},
  catalogVersion = '1',
  ...more
}: Given): Promise<string> {
  const scan_id = `20261006-143022-${String(++scans).padStart(6, '0')}`;
  const request: ScanRequest = scanRequest({
    scan_id,
    created_at: timestamp,
    targets: ['10.0.0.0/24'],
    ...more,
  });
  const folder = workspace.scan(scan_id);
  await folder.create(request);
  await store.scans.insert(request);
  await store.scans.update(scan_id, { status: 'running', started_at: timestamp });
  const record = await openRecord(folder);
  for (const row of rows) await record.append(row);
  await record.seal();
  if (running) {
    await record.close();
    return scan_id;
  }
  const status = failed ? 'failed' : 'completed';
  const counted = await countRows(rowsOf(rows));
  await record.finish({
    type: 'summary',
    timestamp,
    host: null,
    scan_id,
    status,
    partial: failed ?? false,
    ...counted.results,
    addresses_scanned: 254,
    excluded: 0,
    severity_counts: noFindings(),
    duration_seconds: 1,
    catalogue_version: catalogVersion,
  });
  await record.close();
  const error: Scan['error'] = failed ? { code: 'canceled', message: 'canceled' } : null;
  await store.scans.update(scan_id, {
    status,
    error,
    completed_at: timestamp,
    stages: [
      stage('connect_scanner'),
      ...Object.entries(checks).map(([name, version]) => ({ ...stage(name), version })),
    ],
  });
  return scan_id;
}

async function* rowsOf(rows: ResultRow[]): AsyncIterable<ResultRow> {
  yield* rows;
}

function stage(module_type: string): StageRecord {
  return {
    instance_id: module_type,
    module_type,
    status: 'completed',
    started_at: timestamp,
    completed_at: timestamp,
    items_in: 0,
    items_out: 0,
    error: null,
  };
}

async function diff(scanId: string, against: string) {
  let text = '';
  const comparison = await compareScans({ store, config, catalogue, recordOf }, scanId, against);
  for await (const piece of renderComparison(comparison)) text += piece;
  return JSON.parse(text);
}

const state = (product: string | null, version: string | null) => ({
  state: 'open',
  service: 'http',
  product,
  version,
});

describe('compareScans', () => {
  it('tells what appeared, went and changed, in address order', async () => {
    const before = await scanned({
      rows: [
        host('10.0.0.10'),
        port('10.0.0.10', 80, 'nginx', '1.20'),
        host('10.0.0.9'),
        port('10.0.0.9', 80, 'nginx', '1.20'),
        port('10.0.0.9', 443),
        host('10.0.0.2'),
        port('10.0.0.2', 22),
      ],
    });
    const after = await scanned({
      rows: [
        host('10.0.0.30'),
        port('10.0.0.30', 80),
        host('10.0.0.9'),
        port('10.0.0.9', 80, 'nginx', '1.24'),
        port('10.0.0.9', 8080),
        host('10.0.0.10'),
        port('10.0.0.10', 80, 'nginx', '1.20'),
      ],
    });
    expect(await diff(after, before)).toEqual({
      scan_id: after,
      against: before,
      hosts: { added: ['10.0.0.30'], removed: ['10.0.0.2'] },
      ports: {
        added: [
          { host: '10.0.0.9', port: 8080, protocol: 'tcp', ...state(null, null) },
          { host: '10.0.0.30', port: 80, protocol: 'tcp', ...state(null, null) },
        ],
        removed: [
          { host: '10.0.0.2', port: 22, protocol: 'tcp', ...state(null, null) },
          { host: '10.0.0.9', port: 443, protocol: 'tcp', ...state(null, null) },
        ],
        changed: [
          {
            host: '10.0.0.9',
            port: 80,
            protocol: 'tcp',
            before: state('nginx', '1.20'),
            after: state('nginx', '1.24'),
          },
        ],
      },
      vulnerabilities: { new: [], resolved: [], unchanged_count: 0 },
      not_comparable: [],
    });
  });

  it('knows hosts again that moved to another address, and says what they took along', async () => {
    const key = (value: string) => [{ kind: 'ssh_host_key' as const, value: `ssh-ed25519 ${value}` }];
    const card = { kind: 'mac' as const, value: '00:0c:29:00:00:01' };
    const before = await scanned({
      rows: [
        host('10.0.0.1', { identity: [...key('moved'), card] }),
        host('10.0.0.2', { identity: key('clone') }),
        host('10.0.0.3', { identity: key('clone') }),
        host('10.0.0.4', { identity: key('stays') }),
        host('10.0.0.5'),
      ],
    });
    const after = await scanned({
      rows: [
        host('10.0.0.4', { identity: key('stays') }),
        host('10.0.0.20', { identity: key('clone') }),
        host('10.0.0.30', { identity: [...key('moved'), card] }),
        host('10.0.0.40'),
      ],
    });
    const { hosts } = await diff(after, before);
    expect(hosts.moved).toEqual([{ before: '10.0.0.1', after: '10.0.0.30', by: [...key('moved'), card] }]);
    // They are still among those that went and came.
    expect(hosts.removed).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.5']);
    expect(hosts.added).toEqual(['10.0.0.20', '10.0.0.30', '10.0.0.40']);
  });

  it('says of no host that it moved when its marks point at two', async () => {
    const [one, two] = [
      { kind: 'mac' as const, value: 'a' },
      { kind: 'name' as const, value: 'b' },
    ];
    const before = await scanned({ rows: [host('10.0.0.1', { identity: [one, two] })] });
    const split = await scanned({
      rows: [host('10.0.0.2', { identity: [one] }), host('10.0.0.3', { identity: [two] })],
    });
    expect((await diff(split, before)).hosts).not.toHaveProperty('moved');
    expect((await diff(before, split)).hosts).not.toHaveProperty('moved');
  });

  it('finds no difference between a scan and itself', async () => {
    const one = await scanned({
      evaluated: true,
      rows: [host('10.0.0.1'), port('10.0.0.1', 80), finding('10.0.0.1', 80, 'CVE-1')],
    });
    const { hosts, ports, vulnerabilities, not_comparable } = await diff(one, one);
    expect([hosts, ports, not_comparable]).toEqual([
      { added: [], removed: [] },
      { added: [], removed: [], changed: [] },
      [],
    ]);
    expect(vulnerabilities).toEqual({ new: [], resolved: [], unchanged_count: 1 });
  });

  it('takes nothing outside the targets and exclusions of either scan for removed or added', async () => {
    const wide = await scanned({
      targets: ['10.0.0.0/16'],
      rows: [host('10.0.0.1'), host('10.0.5.1'), port('10.0.5.1', 80), host('10.0.0.7')],
    });
    const narrow = await scanned({ exclude: ['10.0.0.7'], rows: [host('10.0.0.1')] });
    const missing = (address: string) => ({
      host: address,
      port: null,
      protocol: null,
      reason: 'out_of_scope',
      missing_in: narrow,
    });
    for (const pair of [
      [narrow, wide],
      [wide, narrow],
    ] as const) {
      expect(await diff(...pair)).toMatchObject({
        hosts: { added: [], removed: [] },
        ports: { added: [], removed: [], changed: [] },
        not_comparable: [missing('10.0.0.7'), missing('10.0.5.1')],
      });
    }
  });

  it('takes no port outside the port plan of either scan for removed or added', async () => {
    const web = await scanned({ ports: '80,443', rows: [host('10.0.0.1'), port('10.0.0.1', 80)] });
    const rows = [host('10.0.0.1'), port('10.0.0.1', 22), port('10.0.0.1', 80), port('10.0.0.1', 443)];
    const all = await scanned({ ports: 'all', rows });
    const without = await scanned({
      ports: 'all',
      options: { exclude_ports: '443' },
      rows: rows.slice(0, 3),
    });
    expect(await diff(web, all)).toMatchObject({
      ports: { added: [], removed: [{ port: 443 }] },
      not_comparable: [{ port: 22, protocol: 'tcp', reason: 'port_not_planned', missing_in: web }],
    });
    expect(await diff(without, all)).toMatchObject({
      ports: { removed: [] },
      not_comparable: [{ port: 443, reason: 'port_not_planned', missing_in: without }],
    });
    const discovery = await scanned({ dag: 'discovery-only', rows: [host('10.0.0.1')] });
    expect((await diff(discovery, all)).not_comparable).toHaveLength(3);
  });

  it('concludes nothing from the silence of a scan that failed, but of hosts that it swept', async () => {
    const whole = await scanned({
      rows: [
        host('10.0.0.1'),
        port('10.0.0.1', 80),
        host('10.0.0.2'),
        port('10.0.0.2', 80),
        host('10.0.0.3'),
      ],
    });
    const half = await scanned({
      failed: true,
      rows: [
        host('10.0.0.1'),
        host('10.0.0.2', { port_counts: { open: 0, closed: 5, filtered: 0, not_tried: 995 } }),
      ],
    });
    expect(await diff(half, whole)).toMatchObject({
      hosts: { removed: [] },
      ports: { removed: [{ host: '10.0.0.1', port: 80 }] },
      not_comparable: [
        { host: '10.0.0.2', port: 80, reason: 'partial' },
        { host: '10.0.0.3', port: null, reason: 'partial' },
      ],
    });
  });

  it('compares a host that was asked for by name, as long as the name led to it', async () => {
    const named = { targets: ['db.example.net'] };
    const before = await scanned({ ...named, rows: [host('10.9.0.1', { hostnames: ['db.example.net'] })] });
    const gone = await scanned({ ...named, rows: [] });
    const moved = await scanned({ ...named, rows: [host('10.9.0.2', { hostnames: ['db.example.net'] })] });
    const failed: ResultRow = {
      type: 'error',
      timestamp,
      host: null,
      target: 'db.example.net',
      code: 'resolve_failed',
      message: 'name does not exist',
      node: null,
    };
    const lost = await scanned({ ...named, rows: [failed] });
    expect((await diff(gone, before)).hosts.removed).toEqual(['10.9.0.1']);
    expect(await diff(moved, before)).toMatchObject({
      hosts: { added: [], removed: [] },
      not_comparable: [{ host: '10.9.0.1' }, { host: '10.9.0.2' }],
    });
    expect(await diff(lost, before)).toMatchObject({
      hosts: { removed: [] },
      not_comparable: [{ host: '10.9.0.1', reason: 'out_of_scope' }],
    });
  });

  it('compares hosts around a name with a prefix length, as far as the name shows where that was', async () => {
    const around = { targets: ['db.example.net/28', '10.8.0.1'] };
    const db = host('10.9.0.1', { hostnames: ['db.example.net'] });
    const before = await scanned({ ...around, rows: [db, host('10.9.0.14'), host('10.9.0.40')] });
    const after = await scanned({ ...around, rows: [db] });
    const silent = await scanned({ ...around, rows: [host('10.8.0.1')] });
    expect(await diff(after, before)).toMatchObject({
      hosts: { removed: ['10.9.0.14'] },
      not_comparable: [{ host: '10.9.0.40', reason: 'out_of_scope' }],
    });
    expect((await diff(silent, before)).hosts.removed).toEqual([]);
  });

  it('compares findings where both scans looked for them', async () => {
    const rows = [host('10.0.0.1'), port('10.0.0.1', 80)];
    const before = await scanned({
      evaluated: true,
      rows: [
        ...rows,
        finding('10.0.0.1', 80, 'CVE-1'),
        finding('10.0.0.1', 80, 'CVE-2'),
        finding('10.0.0.1', null, 'CIS-1', 'low'),
      ],
    });
    const after = await scanned({
      evaluated: true,
      options: { min_severity: 'high' },
      rows: [...rows, finding('10.0.0.1', 80, 'CVE-2'), finding('10.0.0.1', 80, 'CVE-3')],
    });
    const compared = await diff(after, before);
    expect(compared.vulnerabilities).toMatchObject({
      new: [
        { host: '10.0.0.1', port: 80, protocol: 'tcp', vulnerability: { id: 'CVE-3', severity: 'high' } },
      ],
      resolved: [{ vulnerability: { id: 'CVE-1' } }],
      unchanged_count: 1,
    });
    expect(compared.not_comparable).toMatchObject([
      { port: null, reason: 'not_evaluated', missing_in: after },
    ]);
    const blind = await scanned({ rows });
    expect(await diff(blind, before)).toMatchObject({ vulnerabilities: { resolved: [], new: [] } });
    expect((await diff(blind, before)).not_comparable).toHaveLength(3);
  });

  it('says which new findings a new check brought', async () => {
    const rows = [
      host('10.0.0.1'),
      port('10.0.0.1', 80, 'nginx', '1.20'),
      port('10.0.0.1', 81, 'nginx', '1.20'),
    ];
    const checks = { cve_matcher: '1.0.0', misconfig_checker: '1.0.0' };
    const before = await scanned({ rows, checks });
    const found = (plugin: string) => [
      host('10.0.0.1'),
      port('10.0.0.1', 80, 'nginx', '1.20'),
      finding('10.0.0.1', 80, 'same service', 'high', plugin),
      port('10.0.0.1', 81, 'nginx', '1.18'),
      finding('10.0.0.1', 81, 'other version', 'high', plugin),
    ];
    const byNewCheck = async (plugin: string, more: Partial<Given> = {}) => {
      const after = await scanned({ rows: found(plugin), checks, ...more });
      const { vulnerabilities } = await diff(after, before);
      return vulnerabilities.new
        .filter(({ by_new_check }: { by_new_check?: true }) => by_new_check)
        .map(({ vulnerability }: { vulnerability: Finding }) => vulnerability.id);
    };
    expect(await byNewCheck('cve_matcher')).toEqual([]);
    expect(await byNewCheck('cve_matcher', { catalogVersion: '2' })).toEqual(['same service']);
    expect(await byNewCheck('misconfig_checker', { catalogVersion: '2' })).toEqual([]);
    const newer = { ...checks, misconfig_checker: '1.1.0' };
    expect(await byNewCheck('misconfig_checker', { checks: newer })).toEqual(['same service']);
    const more = { ...checks, weak_cipher_checker: '1.0.0', rule_evaluator: '1.0.0' };
    const both = ['same service', 'other version'];
    expect(await byNewCheck('weak_cipher_checker', { checks: more })).toEqual(both);
    expect(await byNewCheck('a-rule', { checks: more })).toEqual(both);
  });

  it('refuses what is unknown or not over', async () => {
    const done = await scanned({ rows: [host('10.0.0.1')] });
    const running = await scanned({ running: true, rows: [host('10.0.0.1')] });
    await expect(diff(done, running)).rejects.toMatchObject({ code: 'conflict' });
    await expect(diff(running, done)).rejects.toMatchObject({ code: 'conflict' });
    await expect(diff(done, '20261006-143022-ffffff')).rejects.toMatchObject({ code: 'not_found' });
    await expect(diff('../../etc', done)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes through more changes than it holds', async () => {
    const many = Array.from({ length: 25_000 }, (_, index) =>
      host(`10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`),
    );
    const before = await scanned({ targets: ['10.0.0.0/8'], rows: [] });
    const after = await scanned({ targets: ['10.0.0.0/8'], rows: many });
    const compared = await diff(after, before);
    expect(compared.hosts.added).toHaveLength(25_000);
    expect(compared.hosts.added.slice(0, 2)).toEqual(['10.1.0.0', '10.1.0.1']);
    expect(compared.hosts.removed).toEqual([]);

    // Read again after the baseline has gone, every host would look new.
    const same = await scanned({ targets: ['10.0.0.0/8'], rows: many.slice(0, 12_000) });
    const comparison = await compareScans({ store, config, catalogue, recordOf }, same, after);
    await workspace.scan(after).remove();
    await expect(Array.fromAsync(comparison.list('hosts.removed'))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('stops reading when nobody wants it any more', async () => {
    const one = await scanned({ rows: [host('10.0.0.1')] });
    const other = await scanned({ rows: [host('10.0.0.2')] });
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(compareScans({ store, config, catalogue, recordOf }, one, other, gone)).rejects.toThrow(
      'gone',
    );
  });
});

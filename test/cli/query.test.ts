import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noFindings } from '../../src/domain/finding.ts';
import { scanRequest } from '../../src/domain/fixtures/scan-request.ts';
import type { ResultRow } from '../../src/domain/result.ts';
import { openStore } from '../../src/store/open.ts';
import { openRecord } from '../../src/workspace/record/record-writer.ts';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { finding, host, port, timestamp } from '../result-rows.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const scan_id = '20261006-143022-aaaaaa';
/** More than two pages of a server. */
const manyRows = '20261006-143022-bbbbbb';
const home = new Home();
const server = new InProcessServer();

beforeAll(async () => {
  await recordScan(server.workspace, scan_id, rows);
  await recordScan(server.workspace, manyRows, [
    host,
    ...Array.from({ length: 2500 }, (_, number) => port(number + 1, { banner: 'b'.repeat(100) })),
  ]);
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

const nginx = { name: 'https', product: 'nginx', vendor: 'F5', version: '1.24.0', cpe: null, confidence: 1 };
const rows: ResultRow[] = [
  host,
  port(22),
  port(443, { service: nginx, banner: 'nginx\x1b[2J' }),
  finding(443, 'CVE-1', 'high'),
  finding(443, 'CVE-2', 'low'),
];

async function recordScan(dir: string, scan_id: string, rows: ResultRow[]): Promise<void> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  const request = scanRequest({ scan_id, created_at: timestamp, targets: [host.host] });
  const folder = workspace.scan(scan_id);
  await folder.create(request);
  await store.scans.insert(request, 'cli:1');
  await store.scans.update(scan_id, { status: 'running', started_at: timestamp });
  const record = await openRecord(folder);
  for (const row of rows) await record.append(row);
  await record.seal();
  await record.finish({
    type: 'summary',
    timestamp,
    host: null,
    scan_id,
    status: 'completed',
    partial: false,
    live_hosts: 1,
    open_ports: rows.filter(({ type }) => type === 'port').length,
    vulnerabilities: rows.filter(({ type }) => type === 'vulnerability').length,
    addresses_scanned: 1,
    excluded: 0,
    severity_counts: { ...noFindings(), high: 1, low: 1 },
    duration_seconds: 1,
    catalogue_version: '1',
  });
  await record.close();
  await store.scans.update(scan_id, { status: 'completed', completed_at: timestamp });
  await store.close();
}

describe.each([
  ['here', () => ['--workspace-dir', server.workspace]],
  ['on a server', () => ['--server', server.url]],
])('workspace show --query %s', (_name, place) => {
  const show = (query: string, ...args: string[]) =>
    home.run(['workspace', 'show', scan_id, '--query', query, ...args, ...place()]);

  it('shows what matches, and how much of what', async () => {
    const { code, stdout, stderr } = await show('port:443 product:nginx severity:>=high');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('443/tcp');
    expect(stdout).toContain('CVE-1');
    expect(stdout).not.toMatch(/22\/tcp|CVE-2/);
    expect(stdout).toMatch(/1 of 1 host, 1 of 2 ports, 1 of 2 findings match\n$/);
  });

  it('says that nothing matches', async () => {
    const { code, stdout } = await show('product:apache');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '0 of 1 host, 0 of 2 ports, 0 of 2 findings match\n',
    });
  });

  it('writes JSON', async () => {
    const { stdout } = await show('version:<1.25 class:likely', '--format', 'json');
    const { records, matches, totals, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({ scan_id, query: 'version:<1.25 class:likely' });
    expect(records.map((row: ResultRow) => row.type)).toEqual([
      'host',
      'port',
      'vulnerability',
      'vulnerability',
    ]);
    expect(matches).toEqual({ hosts: 1, ports: 1, findings: 2 });
    expect(totals).toEqual({ hosts: 1, ports: 2, findings: 2 });
  });

  it('writes JSON Lines and CSV', async () => {
    const lines = (await show('port:22', '--format', 'jsonl')).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['host', 'port']);
    const csv = (await show('severity:high', '--format', 'csv')).stdout.trimEnd().split('\r\n');
    expect(csv).toHaveLength(2);
    expect(csv[1]).toMatch(/^192\.168\.1\.10,443,tcp,.*,CVE-1,high,/);
  });

  it('rejects a text that is no query, with the column', async () => {
    const { code, stdout, stderr } = await show('port:443 sevrity:high');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--query: column 10: unknown field `sevrity`; did you mean `severity`?');
  });

  it('rejects formats that need a query', async () => {
    const { code, stderr } = await home.run(['workspace', 'show', scan_id, '--format', 'csv', ...place()]);
    expect(code).toBe(2);
    expect(stderr).toContain('--format csv needs --query');
  });
});

describe('workspace show --query', () => {
  const show = async (id: string, query: string, format: string, place: string[]) =>
    await home.run(['workspace', 'show', id, '--query', query, '--format', format, ...place]);

  it.each(['text', 'json', 'jsonl', 'csv'])('writes the same %s from a server as here', async (format) => {
    const query = 'port:<2100 not severity:low or free';
    for (const id of [scan_id, manyRows]) {
      const here = await show(id, query, format, ['--workspace-dir', server.workspace]);
      const there = await show(id, query, format, ['--server', server.url]);
      expect({ ...there, bytes: null }).toEqual({ ...here, bytes: null });
      expect(there.stdout.length).toBeGreaterThan(id === manyRows ? 100_000 : 100);
    }
    // The server has evaluated it.
    expect(await readdir(join(server.workspace, 'cache/index'))).toEqual(
      expect.arrayContaining([`${scan_id}.db`, `${manyRows}.db`]),
    );
  });

  it('says that a server has no such scan, and writes nothing', async () => {
    const { code, stdout, stderr } = await show('20261006-143022-cccccc', 'port:1', 'json', [
      '--server',
      server.url,
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('no scan \\"20261006-143022-cccccc\\"');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import { noFindings } from '../../src/domain/finding.ts';
import { scanRequest } from '../../src/domain/fixtures/scan-request.ts';
import type { ResultRow } from '../../src/domain/result.ts';
import type { ScanRequest } from '../../src/domain/scan.ts';
import { openStore } from '../../src/store/open.ts';
import { openRecord } from '../../src/workspace/record/record-writer.ts';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { Home, run } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { runOnPseudoTerminal } from './terminal.ts';

/**
 * Clear screen, set the title, write the clipboard, ring, go back, the one-byte form of CSI, DEL, a bidi override, a
 * line separator; and a mark that shows that the text was printed at all.
 */
const evil = 'MARK\x1b[2J\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07abc\b\b\b\x9b31m\x7f\u202e\u2028\r\n';
const bytes = [0x1b, 0x07, 0x08, 0x7f];
const timestamp = '2026-10-06T14:30:24.010Z';
const ids = ['20261006-143022-aaaaaa', '20261006-143023-bbbbbb'] as const;
const home = new Home();
const server = new InProcessServer();

beforeAll(async () => {
  await keepHostileScans(server.workspace);
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

/** Two finished scans whose every text came from targets. */
async function keepHostileScans(dir: string): Promise<void> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  for (const [index, scan_id] of ids.entries()) {
    const request: ScanRequest = scanRequest({
      scan_id,
      created_at: timestamp,
      targets: ['10.0.0.0/24'],
      vuln: true,
    });
    const folder = workspace.scan(scan_id);
    await folder.create(request);
    await store.scans.insert(request, 'cli:1');
    await store.scans.update(scan_id, { status: 'running', started_at: timestamp });
    const record = await openRecord(folder);
    for (const row of hostileRows(index)) await record.append(row);
    await record.seal();
    await record.finish({
      type: 'summary',
      timestamp,
      host: null,
      scan_id,
      status: 'completed',
      partial: false,
      live_hosts: 2,
      open_ports: 2,
      vulnerabilities: 1,
      addresses_scanned: 254,
      excluded: 0,
      severity_counts: { ...noFindings(), high: 1 },
      duration_seconds: 1,
      catalogue_version: '1',
    });
    await record.close();
    const stage = {
      instance_id: 'connect',
      module_type: 'connect_scanner',
      status: 'failed' as const,
      started_at: timestamp,
      completed_at: timestamp,
      items_in: 0,
      items_out: 0,
      error: evil,
    };
    await store.scans.update(scan_id, {
      status: 'completed',
      completed_at: timestamp,
      warnings: [{ code: 'odd', message: evil, node: evil, target: evil }],
      stages: [stage],
    });
  }
  await store.close();
}

function hostileRows(index: number): ResultRow[] {
  const claim = { product: `${evil}${index}`, vendor: evil, version: evil, cpe: evil, confidence: 1 };
  const host = {
    type: 'host' as const,
    timestamp,
    state: 'up' as const,
    hostnames: [evil],
    os: { family: evil, distribution: evil, version: evil, confidence: 1 },
    device_type: evil,
    vendor: evil,
    mac: evil,
    port_counts: { open: 1, closed: 9, filtered: 0, not_tried: 0 },
  };
  const port = {
    type: 'port' as const,
    timestamp,
    protocol: 'tcp' as const,
    state: 'open',
    reason: evil,
    service: { name: evil, ...claim },
    banner: evil,
    tls: { version: evil, certificate: { subject: evil, sans: [evil] } },
    fingerprints: [{ match: evil, ...claim, source: evil, evidence: evil }],
    attributes: { http: { title: evil, headers: { [evil]: evil } } },
  };
  const finding: Finding = {
    id: `CVE-${index}${evil}`,
    title: evil,
    severity: 'high',
    cvss: null,
    kev: false,
    epss: null,
    cpe: evil,
    affected: evil,
    detected: evil,
    confidence: 1,
    backport_note: evil,
    class: 'likely',
    evidence: evil,
    remediation: evil,
    references: [evil],
    plugin: evil,
  };
  const found = {
    type: 'vulnerability' as const,
    timestamp,
    protocol: 'tcp' as const,
    vulnerability: finding,
  };
  return [
    { type: 'error', timestamp, host: null, target: evil, code: 'resolve_failed', message: evil, node: evil },
    { ...host, host: '10.0.0.1' },
    { ...port, host: '10.0.0.1', port: 22 },
    { ...found, host: '10.0.0.1', port: 22 },
    // Of each scan alone, so that it is added and removed.
    { ...host, host: `10.0.0.${index + 7}` },
    { ...port, host: `10.0.0.${index + 7}`, port: 80 },
  ];
}

const place = () => ['--workspace-dir', server.workspace];
const [older, newer] = ids;
const exports = ['json', 'jsonl', 'csv', 'text', 'yaml', 'html', 'nmap', 'sarif'];

describe('a hostile record', () => {
  it.each([
    ['workspace list', ['workspace', 'list']],
    ['workspace list as JSON', ['workspace', 'list', '--format', 'json']],
    ['workspace list as CSV', ['workspace', 'list', '--format', 'csv']],
    ['workspace show', ['workspace', 'show', newer]],
    ['workspace show as JSON', ['workspace', 'show', newer, '--format', 'json']],
    ['workspace show with results', ['workspace', 'show', newer, '--show-results']],
    ...['text', 'json', 'jsonl', 'csv'].map((format): [string, string[]] => [
      `matches of a query as ${format}`,
      ['workspace', 'show', newer, '--query', 'MARK or port:*', '--format', format],
    ]),
    ...exports.map((format): [string, string[]] => [
      `workspace export as ${format}`,
      ['workspace', 'export', newer, '--format', format],
    ]),
    ['scan status', ['scan', 'status', newer]],
    ['scan status as JSON', ['scan', 'status', newer, '--format', 'json']],
    ['scan watch', ['scan', 'watch', newer, '--progress']],
    ['scan watch as JSON', ['scan', 'watch', newer, '--format', 'json']],
    ['scan diff', ['scan', 'diff', newer, older]],
    ['scan diff as JSON', ['scan', 'diff', newer, older, '--format', 'json']],
  ])('sends no control byte to a terminal: %s', async (what, args) => {
    const ended = await home.run([...args, ...place()]);
    expect([0, 7]).toContain(ended.code);
    for (const byte of bytes) expect(ended.bytes.includes(byte)).toBe(false);
    const text = ended.stdout + ended.stderr;
    // C1 controls as characters, bidi overrides and line separators; also not as their first byte alone.
    expect(text).not.toMatch(/[\x80-\x9f\u202a-\u202e\u2028\u2029]/);
    if (!what.startsWith('workspace list')) expect(text).toContain('MARK');
  });

  it('nor does one on a pseudo-terminal', async () => {
    const ended = await runOnPseudoTerminal(home, ['scan', 'diff', newer, older, ...place()], {
      apart: false,
    });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('MARK\\x1b[2J');
    for (const byte of bytes) expect(ended.stdout).not.toContain(String.fromCharCode(byte));
  });

  it('is as harmless without a server', async () => {
    await server.stop();
    for (const args of [
      ['workspace', 'show', newer, '--show-results'],
      ['workspace', 'export', newer, '--format', 'json'],
      ['scan', 'diff', newer, older],
      ['scan', 'diff', newer, older, '--format', 'json'],
      ['workspace', 'stats'],
      ['workspace', 'check'],
    ]) {
      const ended = await home.run([...args, ...place()]);
      expect([0, 1]).toContain(ended.code);
      if (args[0] === 'scan' || args.includes(newer)) expect(ended.stdout).toContain('MARK');
      for (const byte of bytes) expect(ended.bytes.includes(byte)).toBe(false);
    }
  });
});

describe('what looks like options or commands of a shell', () => {
  const marker = home.file('touched');
  const targets = [
    '$(touch MARKER)',
    ';touch MARKER',
    '`touch MARKER`',
    '10.0.0.1\ntouch MARKER',
    '|touch MARKER',
  ];

  it.each(targets.map((target) => target.replace('MARKER', marker)))('is no target: %j', async (target) => {
    for (const args of [
      ['scan', target],
      ['scan', '10.0.0.1', '--exclude', target],
      ['scan', '10.0.0.1', '--ports', target],
    ])
      expect([args, (await home.run([...args, '--dry-run'])).code]).toEqual([args, 2]);
    expect((await run('test', ['-e', marker])).code).toBe(1);
  });

  it('is no target after -- either, and never an option of something else', async () => {
    const { code, stderr } = await home.run(['scan', '--', '-oN', '/tmp/x']);
    expect(code).toBe(2);
    expect(stderr).toContain('starts with "-"');
  });
});

import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explanationText } from '../../src/cli/scan/explain/explain-text.ts';
import { readEndpoint } from '../../src/cli/scan/explain.ts';
import { plainStyle } from '../../src/cli/terminal/draw/style.ts';
import { nvdPage, nvdRecord } from '../../src/knowledge/vulndb/fixtures/feeds.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
const server = new InProcessServer();
let port = 0;
beforeAll(async () => {
  port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  listeners.close();
  home.remove();
});

interface Shown {
  host: string;
  ports: {
    port: number;
    claims: { outcome: string; rule: { id: string; pattern: string } | null }[];
    findings: { id: string; reasons: string[]; plugin: string }[];
  }[];
}

describe.each([
  ['in the workspace', () => [] as string[]],
  ['on a server', () => ['--server', server.url]],
])('a scan %s', (_where, place) => {
  it('is explained from the bytes to the finding', async () => {
    const scan = ['scan', '127.0.0.1', '--no-discover', '--vuln', '--ports', String(port), '--timeout', '1s'];
    const scanned = await home.run([...scan, '--scan-type', 'connect', ...place(), '--format', 'json']);
    expect(scanned.code, scanned.stderr).toBe(0);
    const { scan_id } = JSON.parse(scanned.stdout) as { scan_id: string };

    const where = `127.0.0.1:${port}`;
    const json = await home.run(['explain', scan_id, where, ...place(), '--format', 'json']);
    expect(json.code, json.stderr).toBe(0);
    const shown = JSON.parse(json.stdout) as Shown;
    const [only] = shown.ports;
    expect([shown.host, only?.port]).toEqual(['127.0.0.1', port]);
    expect(only?.claims[0]).toMatchObject({ outcome: 'chosen', rule: { id: 'ssh.openssh' } });
    const race = only?.findings.find(({ id }) => id === 'CVE-2024-6387');
    expect(race?.plugin).toBe('cve_matcher');
    expect(race?.reasons.length).toBeGreaterThan(0);
    expect(race?.reasons.join(' ')).not.toContain('With the current data it would have');

    const text = await home.run(['explain', scan_id, where, ...place()]);
    expect(text.code, text.stderr).toBe(0);
    expect(text.stdout).toContain('ssh.openssh: version 9.2p1');
    expect(text.stdout).not.toContain('CVE-2024-6387 high');
    const all = await home.run(['explain', scan_id, where, '-v', ...place()]);
    expect(all.code, all.stderr).toBe(0);
    expect(all.stdout).toContain('by rule ssh.openssh');
    expect(all.stdout).toContain('CVE-2024-6387 high');

    const silent = await home.run(['explain', scan_id, '127.0.0.1:9', ...place()]);
    expect([silent.code, silent.stderr]).toEqual([0, '']);
    expect(silent.stdout).toContain('not tried: it is not among the ports of the scan');

    const absent = await home.run(['explain', scan_id, '127.0.0.9', ...place()]);
    expect([absent.code, absent.stdout]).toEqual([1, '']);
    expect(absent.stderr).toContain('no results of the host 127.0.0.9');
  });
});

it.each([
  ['in this process', () => [] as string[], () => [] as string[]],
  ['in a process of a server', () => ['--server', server.url], () => ['--workspace-dir', server.workspace]],
])(
  'imported data reaches a scan %s, and its results name it',
  async (_where, place, workspace) => {
    const file = home.file('nvd.json');
    const record = nvdRecord('CVE-2099-1000', { vendor: 'openbsd', product: 'openssh', end: '99.0' });
    writeFileSync(file, JSON.stringify(nvdPage([record])));
    const imported = await home.run(['vulndb', 'import', file, ...workspace()]);
    expect(imported.code, imported.stderr).toBe(0);
    const scan = ['scan', '127.0.0.1', '--no-discover', '--vuln', '--ports', String(port), '--timeout', '1s'];
    const scanned = await home.run([...scan, '--scan-type', 'connect', ...place(), '--format', 'json']);
    expect(scanned.code, scanned.stderr).toBe(0);
    expect(scanned.stdout).toContain('CVE-2099-1000');
    expect(scanned.stdout).toContain('CVE-2024-6387');
    const { summary } = JSON.parse(scanned.stdout) as { summary: { catalogue_version: string } };
    expect(summary.catalogue_version).toMatch(/\+vulndb@\d{8}T\d{6}Z-[0-9a-f]{6}$/);
  },
  60_000,
);

describe('the place', () => {
  it.each([
    ['192.0.2.1', { host: '192.0.2.1', port: null, protocol: null }],
    ['192.0.2.1:22', { host: '192.0.2.1', port: 22, protocol: null }],
    ['web-1.example.net:53/UDP', { host: 'web-1.example.net', port: 53, protocol: 'udp' }],
    ['2001:db8::1', { host: '2001:db8::1', port: null, protocol: null }],
    ['[2001:db8::1]:443/tcp', { host: '2001:db8::1', port: 443, protocol: 'tcp' }],
  ])('%s is read', (text, expected) => {
    expect(readEndpoint(text)).toEqual(expected);
  });

  it.each(['', ':22', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:x', '[::1', '192.0.2.1:22/sctp'])(
    '%j is a usage error',
    (text) => {
      expect(() => readEndpoint(text)).toThrow('is not host');
    },
  );
});

it('nothing that a host said reaches the terminal as it came', () => {
  const hostile = '\x1b[2J\u009b\u202e<b>';
  const port = {
    port: 1,
    protocol: 'tcp',
    state: hostile,
    reason: hostile,
    banner_b64: null,
    truncated: true,
  };
  const explanation = {
    scan_id: 'scan',
    host: '192.0.2.1',
    os: { family: hostile, distribution: null, version: null, confidence: 0.5 },
    ports: [
      {
        ...port,
        banner: hostile,
        tls: { version: hostile, cipher: hostile, client_certificate: hostile, error: hostile },
        sites: [hostile],
        claims: [],
        findings: [],
      },
    ],
    findings: [],
    left_out: 2,
  };
  const text = [true, false]
    .map((details) => explanationText(explanation, null, details, { style: plainStyle, now: 0, details }))
    .join('');
  expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  expect(text).toContain('2 more ports');
});

import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followingWork } from '../../../src/cli/results/live/live-lines.ts';
import { Registry, registerModules } from '../../../src/engine/registry.ts';
import { root } from '../../program.ts';
import { Home, launcher, run } from '../command.ts';
import { HeldService } from '../held-service.ts';
import { InProcessServer } from '../in-process-server.ts';
import { Listeners } from '../listeners.ts';

const home = new Home();
const listeners = new Listeners();
const server = new InProcessServer({ workers: 2 });
const host = '127.86.2.1';
let ftp = 0;
let many: number[] = [];

beforeAll(async () => {
  ftp = await listeners.serve((socket) => socket.end('220 (vsFTPd 2.3.4)\r\n'), host);
  many = await Promise.all(Array.from({ length: 40 }, () => listeners.serve(() => undefined, host)));
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  listeners.close();
  home.remove();
});

/** Scans a service that responds and one that is held until `wanted` stands in the output. */
async function scanHeld(wanted: (held: number) => RegExp, ...flags: string[]) {
  const held = new HeldService();
  const port = await held.listen(listeners, host);
  const pattern = wanted(port);
  let early = '';
  const started = ({ stdout }: ChildProcess) => {
    const read = (chunk: Buffer) => {
      early += chunk.toString();
      if (!pattern.test(early)) return;
      stdout?.off('data', read);
      held.release();
    };
    stdout?.on('data', read);
  };
  const scan = ['scan', host, '--no-discover', '--ports', `${ftp},${port}`, '--timeout', '60s', ...flags];
  const ended = await home.start(scan, { started });
  return { ...ended, early, held: port };
}

describe.each([
  ['without a server', () => []],
  ['on a server', () => ['--server', server.url]],
])('a scan %s', (_where, place) => {
  it('prints host:port of open ports while it runs, each once', async () => {
    const flags = ['--format', 'hostport', ...place()];
    const { code, stdout, held } = await scanHeld(
      (port) => new RegExp(`(?=.*:${ftp}\n)(?=.*:${port}\n)`, 's'),
      ...flags,
    );
    expect(code).toBe(0);
    expect(stdout.split('\n').sort()).toEqual(['', `${host}:${ftp}`, `${host}:${held}`].sort());
  });

  it('prints JSON Lines while it runs: ports when they open and with their service, the summary last', async () => {
    const flags = ['--format', 'jsonl', ...place()];
    const { code, stdout, early } = await scanHeld(() => /"product":"vsftpd"/, ...flags);
    expect(code).toBe(0);
    expect(early).not.toContain('"type":"summary"');
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ofPort = records.filter(({ type, port }) => type === 'port' && port === ftp);
    expect(ofPort.map(({ service }) => service?.product ?? null)).toEqual([null, 'vsftpd']);
    expect(records.at(-1)).toMatchObject({ type: 'summary', status: 'completed', open_ports: 2 });
    // The last record of each identity is what the export has.
    const { scan_id: id } = records.at(-1);
    const { stdout: exported } = await home.run(['workspace', 'export', id, '--format', 'jsonl', ...place()]);
    const last = new Map(records.map((record) => [`${record.type} ${record.port ?? ''}`, record]));
    for (const line of exported.trimEnd().split('\n')) {
      const record = JSON.parse(line);
      const { timestamp: _shown, ...shown } = last.get(`${record.type} ${record.port ?? ''}`);
      const { timestamp: _recorded, ...recorded } = record;
      expect(shown).toEqual(recorded);
    }
  });

  it('prints a CSV row while it runs, once per port, when it is identified', async () => {
    const flags = ['--format', 'csv', ...place()];
    const { code, stdout, held } = await scanHeld(() => /,vsftpd,/, ...flags);
    expect(code).toBe(0);
    const [head, ...rows] = stdout.trimEnd().split('\r\n');
    expect(head).toMatch(/^host,port,protocol,state,service,/);
    expect(rows.map((row) => row.split(',').slice(1, 7).join())).toEqual([
      `${ftp},tcp,open,ftp,2.3.4,vsftpd`,
      `${held},tcp,open,ssh,9.2p1,OpenSSH`,
    ]);
  });
});

describe('a reader that leaves', () => {
  it('ends the scan quietly with 7', async () => {
    const flags = `--no-discover --ports ${many.join()} --rate 40 --no-fingerprint --format hostport`;
    const command = `"$0" scan ${host} ${flags} | head -n 1; echo "code \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await run('bash', ['-c', command, launcher], { env: home.env });
    expect(stdout).toMatch(/^127\.86\.2\.1:\d+\ncode 7\n$/);
    expect(stderr).toBe('');
  });
});

describe('--format list', () => {
  it('is the list of masscan', async () => {
    const scan = ['scan', host, '--no-discover', '--ports', String(ftp), '--format', 'list'];
    const { code, stdout } = await home.run(scan);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^#masscan\nopen tcp ${ftp} ${host} \\d{10}\n# end\n$`)),
    ]);
  });
});

describe('a CSV row', () => {
  it('waits for nothing but the services that builtin modules find, and for findings to the end', async () => {
    const registry = new Registry();
    await registerModules(registry, join(root, 'src/modules'));
    const following = registry.list().map(({ name, type }) => {
      const stage = { module_type: name, status: 'running' };
      return [name, type, followingWork([stage as Parameters<typeof followingWork>[0][number]])];
    });
    const expected = (type: string, name: string) => {
      if (type === 'evaluation') return 'findings';
      const isOfServices = type === 'parser' || type === 'fingerprint' || name === 'banner_grabber';
      return isOfServices ? 'services' : 'nothing';
    };
    for (const [name, type, found] of following as [string, string, string][])
      expect([name, found]).toEqual([name, expected(type, name)]);
  });
});

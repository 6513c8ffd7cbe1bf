import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { isInstalled } from '../installed.ts';
import { ServerProcess } from '../program.ts';
import {
  denials,
  deniedOf,
  failuresOf,
  type HostileResult,
  type HostileSet,
  hostileGraph,
  hostileLimits,
  ProcessWatch,
  writeHostileSet,
  wrongCauses,
} from './hostile-set.ts';
import { oldWebServer, poweredBy } from './kinds.ts';

const address = '127.86.19.1';
const home = new Home();
let set: HostileSet;
let web: { server: Server; port: number };

/** Everything but what the program keeps itself. */
const entries = () =>
  readdirSync(home.path, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('.'));
/** Would move the cursor, clear the screen or turn the text around. */
const control = /(?![\n\t])\p{Cc}|[\u202a-\u202e]/u;

function expectCauses(failures: Record<string, string>): void {
  expect(wrongCauses(set, failures)).toEqual([]);
  expect(deniedOf(failures['native_intrusions'] ?? '')).toEqual(denials);
}

function expectOtherResults({ results }: HostileResult): void {
  expect(results).toMatchObject([{ host: address, ports: [{ port: web.port }] }]);
  const [port] = results[0]?.ports ?? [];
  expect(port?.banner).toContain('Jetty');
  expect(port?.vulnerabilities.map(({ id }) => id)).toEqual(['powered-by-disclosed']);
}

describe.skipIf(!isInstalled('gcc'))('a set of hostile plugins in one scan', () => {
  beforeAll(async () => {
    web = await oldWebServer(address);
    mkdirSync(home.file('plugins'));
    mkdirSync(home.file('temporary'));
    set = await writeHostileSet(home.file('plugins'), address, home.file('written'));
    writeFileSync(home.file('plugins/powered_by.mts'), poweredBy);
    set.files.push(home.file('plugins/powered_by.mts'));
    mkdirSync(home.file('.config/portolan/dags'), { recursive: true });
    writeFileSync(home.file('.config/portolan/dags/small.yaml'), hostileGraph);
  });
  afterAll(() => {
    web?.server.close();
    home.remove();
  });

  const flags = () => set.files.flatMap((file) => ['--plugin', file]);

  it('fails each of their nodes with its cause, keeps all other results, and leaves no process and no file', async () => {
    const before = entries();
    let connections = 0;
    web.server.on('connection', () => (connections += 1));
    let watch: ProcessWatch | undefined;
    const scan = ['scan', address, '--ports', String(web.port), '--dag', 'small', ...flags()];
    const { code, stdout, stderr } = await home.start([...scan, '--format', 'json', '-q'], {
      env: { ...hostileLimits, TMPDIR: home.file('temporary') },
      started: ({ pid }) => {
        watch = new ProcessWatch(pid as number);
      },
    });
    const left = watch?.left();
    expect(code, stderr).toBe(7);
    const result = JSON.parse(stdout) as HostileResult;
    expect(result.status).toBe('completed');
    expectCauses(failuresOf(result));
    expectOtherResults(result);
    // One by the scanner, and those of the banner grabber.
    expect(connections).toBeLessThan(8);

    expect(watch?.count).toBeGreaterThan(set.files.length);
    expect(left).toEqual([]);
    expect(entries()).toEqual(before);

    expect(stderr).not.toMatch(control);
    for (const format of ['text', 'csv']) {
      const shown = await home.run(['workspace', 'export', result.scan_id, '--format', format]);
      expect(shown.code, shown.stderr).toBe(0);
      expect(shown.stdout.replaceAll('\r\n', '\n')).not.toMatch(control);
    }
  });

  it('does so on a server, which goes on serving', async () => {
    const env = { ...home.env, ...hostileLimits, XDG_CONFIG_HOME: home.file('.config') };
    const temporary = { TMPDIR: home.file('temporary') };
    const server = new ServerProcess({ args: flags(), env: { ...env, ...temporary } });
    try {
      await server.start();
      const before = entries();
      const watch = new ProcessWatch(server.pid);
      const options = { discover: false };
      const scanId = await server.submit({ targets: [address], ports: [web.port], dag: 'small', options });
      const served = await serveWhile(server, scanId);
      // Each of them while the scan ran.
      expect(served.filter((status) => status === 200).length).toBeGreaterThan(100);
      expect(served.filter((status) => status !== 200)).toEqual([]);
      const scan = await server.waitForEnd(scanId);
      expect(scan.status).toBe('completed');
      const failed = scan.stages.filter(({ error }) => error !== null);
      expectCauses(Object.fromEntries(failed.map(({ instance_id, error }) => [instance_id, error ?? ''])));
      const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
      expectOtherResults((body as { data: HostileResult }).data);
      expect(watch.count).toBeGreaterThan(set.files.length);
      await expect.poll(() => watch.leftOf(server)).toEqual({ left: [], waiting: 1 });
      expect(entries()).toEqual(before);
      expect(await server.stop()).toBe(0);
      expect(readdirSync(temporary.TMPDIR)).toEqual([]);
    } finally {
      await server.dispose();
    }
  });

  /** Asks the API one thing after the other until the scan has ended. @returns the status of each response */
  async function serveWhile(server: ServerProcess, scanId: string): Promise<number[]> {
    const paths = [
      '/api/v1/health',
      '/api/v1/scans',
      `/api/v1/scans/${scanId}`,
      '/api/v1/modules',
      '/api/v1/plugins',
    ];
    const served: number[] = [];
    for (;;) {
      for (const path of paths) served.push((await server.request(path)).status);
      const { status } = await server.detail(scanId);
      if (status === 'completed' || status === 'failed') return served;
      // The plugins need the processors.
      await sleep(100);
    }
  }
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Namespace } from '../../src/net/packets/fixtures/namespace.ts';
import { root } from '../program.ts';
import { canRun } from './two-hosts.ts';

/** Every module that sends, each with a port of its own, so that the capture tells them apart. */
const graph = `nodes:
  - { instance_id: icmp, module_type: icmp_discovery, config: { timeout: 300ms, retry: 0 } }
  - { instance_id: arp, module_type: arp_discovery, config: { timeout: 300ms, retry: 0 } }
  - { instance_id: ping, module_type: tcp_probe_discovery, config: { timeout: 300ms, retry: 0, ports: "8101" } }
  - { instance_id: syn, module_type: syn_scanner, config: { timeout: 300ms, retries: 0, ports: "8102" } }
  - { instance_id: connect, module_type: connect_scanner, config: { timeout: 300ms, retries: 0, ports: "8103" } }
  - { instance_id: udp, module_type: udp_scanner, config: { timeout: 300ms, retries: 0, ports: "8104" } }
  - { instance_id: banner, module_type: banner_grabber, config: { timeout: 1s, retries: 0, ports: "8105" } }
  - { instance_id: report, module_type: json_reporter, depends_on: [icmp, arp, ping, syn, connect, udp, banner] }
`;

/** A web server that sends its clients on to the metadata service. */
const redirector = `
require('node:http').createServer((request, response) => {
  response.writeHead(302, { location: 'http://169.254.169.254:8105/latest/meta-data/' }).end();
}).listen(8105, '::', () => console.log('listening'));`;

describe.skipIf(!canRun)('the addresses of metadata services, without a configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-metadata-'));
  const children: ChildProcess[] = [];
  let scanner: Namespace;
  let cloud: Namespace;

  beforeAll(async () => {
    writeFileSync(join(folder, 'every-sender.yaml'), graph);
    scanner = new Namespace();
    cloud = new Namespace();
    scanner.join('eth0', cloud);
    scanner.ip('addr add 169.254.169.1/24 dev eth0');
    scanner.ip('addr add fd00:ec2::1/64 dev eth0 nodad');
    for (const last of [253, 254]) {
      cloud.ip(`addr add 169.254.169.${last}/24 dev eth0`);
      cloud.ip(`addr add fd00:ec2::${last}/64 dev eth0 nodad`);
    }
    const web = inside(cloud, [process.execPath, '-e', redirector]);
    await once(web.stdout as NodeJS.ReadableStream, 'data');
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    scanner?.close();
    cloud?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function inside({ name }: Namespace, command: string[], env = process.env): ChildProcess {
    const child = spawn('ip', ['netns', 'exec', name, ...command], { env, timeout: 30_000 });
    children.push(child);
    return child;
  }

  /** Scans inside the namespace. @returns frames that arrived at the cloud, a line each */
  async function framesOf(targets: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
    const capture = inside(cloud, ['tcpdump', '-i', 'eth0', '-Q', 'in', '-nn', '-l']);
    const lines = text(capture.stdout as NodeJS.ReadableStream);
    await once(capture.stderr as NodeJS.ReadableStream, 'data');
    const home = { PATH: process.env['PATH'], HOME: folder, ...env };
    const command = [
      join(root, 'bin/portolan'),
      'scan',
      targets,
      '--dag',
      join(folder, 'every-sender.yaml'),
      '--format',
      'json',
    ];
    const scan = inside(scanner, command, home);
    const [said] = await Promise.all([
      text(scan.stderr as NodeJS.ReadableStream),
      text(scan.stdout as NodeJS.ReadableStream),
      once(scan, 'close'),
    ]);
    if (scan.exitCode !== 0) throw new Error(`exit ${scan.exitCode}: ${said}`);
    await sleep(300);
    capture.kill('SIGINT');
    return (await lines).split('\n');
  }

  const isFor = (address: string) => (frame: string) =>
    new RegExp(`(?:> |who-has |who has )${address.replaceAll('.', '\\.')}[ .:,]`).test(frame);

  it('get no packet of any module, while their neighbors get one of each', async () => {
    const frames = await framesOf('169.254.169.253-169.254.169.254,fd00:ec2::253-fd00:ec2::254');
    expect(frames.filter(isFor('169.254.169.254'))).toEqual([]);
    expect(frames.filter(isFor('fd00:ec2::254'))).toEqual([]);
    for (const neighbor of ['169.254.169.253', 'fd00:ec2::253']) {
      const toNeighbor = frames.filter(isFor(neighbor)).join('\n');
      expect(toNeighbor).toMatch(/who.has/);
      expect(toNeighbor).toContain('echo request');
      for (const port of [8101, 8102, 8103, 8104, 8105])
        expect(toNeighbor).toContain(`> ${neighbor}.${port}:`);
    }
  });

  it('are scanned where the operator configures another list', async () => {
    const frames = await framesOf('169.254.169.254', { SERVICE_SCANNER__SCOPE__DENY: '192.0.2.1' });
    expect(frames.filter(isFor('169.254.169.254')).length).toBeGreaterThan(5);
  });
});

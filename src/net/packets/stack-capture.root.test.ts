import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StackTraits } from '../../domain/host.ts';
import { canMakeNamespaces, Namespace } from './fixtures/namespace.ts';
import { rawObstacle } from './linux/rights.ts';

const captureStack = fileURLToPath(new URL('fixtures/receive-stack.ts', import.meta.url));
const [ipv4, ipv6] = ['10.91.7.2', 'fd91:7::2'];
const port = 8080;

const canRun = canMakeNamespaces && rawObstacle() === null;
if (!canRun) console.log('skipped: TCP traits over a link: needs root (network namespaces) and raw packets');

interface Captured {
  host: string;
  open: number;
  stack?: StackTraits;
}

describe.skipIf(!canRun)(
  'what the TCP of a real host shows',
  () => {
    let scanner: Namespace;
    let target: Namespace;
    let server: ChildProcess;

    beforeAll(async () => {
      [scanner, target] = [new Namespace(), new Namespace()];
      scanner.join('veth', target);
      scanner.ip('addr add 10.91.7.1/24 dev veth');
      scanner.ip('addr add fd91:7::1/64 dev veth nodad');
      target.ip(`addr add ${ipv4}/24 dev veth`);
      target.ip(`addr add ${ipv6}/64 dev veth nodad`);
      const listen = `require('node:net').createServer().listen(${port}, '::', () => console.log('up'))`;
      server = spawn('ip', ['netns', 'exec', target.name, process.execPath, '-e', listen], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (server.stdout) await once(server.stdout, 'data');
    });
    afterAll(() => {
      server?.kill('SIGKILL');
      scanner?.close();
      target?.close();
    });

    async function capture(
      sysctls: Record<string, number>,
    ): Promise<Record<string, StackTraits | undefined>> {
      const usual = {
        ip_default_ttl: 64,
        tcp_window_scaling: 1,
        tcp_timestamps: 1,
        tcp_sack: 1,
      };
      for (const [name, value] of Object.entries({ ...usual, ...sysctls }))
        target.exec('sysctl', '-qw', `net.ipv4.${name}=${value}`);
      const captured = await scanner.run<Captured[]>(captureStack, { hosts: [ipv4, ipv6], port });
      expect(captured.map(({ open }) => open)).toEqual([1, 1]);
      return Object.fromEntries(captured.map(({ host, stack }) => [host, stack]));
    }

    it.each<[string, Record<string, number>, Partial<StackTraits>]>([
      ['Linux as it comes', {}, { hops: 64, mss: 1460, options: ['mss', 'sack', 'ts', 'nop', 'ws'] }],
      ['another TTL', { ip_default_ttl: 128 }, { hops: 128, options: ['mss', 'sack', 'ts', 'nop', 'ws'] }],
      ['no window scaling', { tcp_window_scaling: 0 }, { scale: null, options: ['mss', 'sack', 'ts'] }],
      ['no time stamps', { tcp_timestamps: 0 }, { options: ['mss', 'nop', 'nop', 'sack', 'nop', 'ws'] }],
      ['no SACK', { tcp_sack: 0 }, { options: ['mss', 'nop', 'nop', 'ts', 'nop', 'ws'] }],
      [
        'none of them',
        { tcp_window_scaling: 0, tcp_timestamps: 0, tcp_sack: 0 },
        { scale: null, options: ['mss'] },
      ],
    ])('%s', async (_, sysctls, expected) => {
      const captured = await capture(sysctls);
      expect(captured[ipv4]).toMatchObject({ dont_fragment: true, ecn: false, ...expected });
      expect(captured[ipv4]?.window).toBeGreaterThan(10_000);
      expect(captured[ipv6]).toMatchObject({
        hops: 64,
        mss: 1440,
        options: expected.options,
        dont_fragment: false,
      });
    });
  },
  60_000,
);

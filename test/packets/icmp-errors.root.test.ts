import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostRow } from '../../src/domain/result.ts';
import { canMakeNamespaces, Namespace } from '../../src/net/packets/fixtures/namespace.ts';
import { root } from '../program.ts';

const probeScript = join(root, 'src/net/fixtures/probe-explained.ts');

if (!canMakeNamespaces) console.log('skipped: ICMP errors of routers: needs root (network namespaces)');

interface Result {
  partial: boolean;
  warnings: { code: string; message: string; target?: string }[];
  results: HostRow[];
}

describe.skipIf(!canMakeNamespaces)('ICMP errors of a router about probes', () => {
  let own: Namespace;
  let router: Namespace;
  let far: Namespace;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-icmp-'));

  beforeAll(() => {
    [own, router, far] = [new Namespace(), new Namespace(), new Namespace()];
    own.join('eth0', router);
    router.join('eth1', far, 'eth0');
    own.ip('addr add 10.94.0.1/24 dev eth0');
    own.ip('addr add fd94::1/64 dev eth0 nodad');
    router.ip('addr add 10.94.0.2/24 dev eth0');
    router.ip('addr add fd94::2/64 dev eth0 nodad');
    router.ip('addr add 10.94.5.1/24 dev eth1');
    router.ip('addr add fd94:5::1/64 dev eth1 nodad');
    far.ip('addr add 10.94.5.5/24 dev eth0');
    far.ip('addr add fd94:5::5/64 dev eth0 nodad');
    own.ip('route add 10.94.0.0/16 via 10.94.0.2');
    own.ip('route add fd94:5::/64 via fd94::2');
    far.ip('route add default via 10.94.5.1');
    far.ip('-6 route add default via fd94:5::1');
    router.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
    for (const each of [router, far])
      each.exec('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0');
    const rules = `table inet filter {
      chain forward {
        type filter hook forward priority 0
        ip daddr 10.94.5.6 reject with icmp type host-unreachable
        meta l4proto { tcp, udp } th dport 1001-1003 reject with icmpx type admin-prohibited
        meta l4proto { tcp, udp } th dport 1005 drop
      }
    }`;
    router.exec('nft', rules);
  });
  afterAll(() => {
    own?.close();
    router?.close();
    far?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function portolan(...args: string[]): Promise<string> {
    const command = ['netns', 'exec', own.name, process.execPath, join(root, 'bin/portolan'), ...args];
    const child = spawn('ip', [...command, '--workspace-dir', folder, '--no-color'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return printed;
  }

  const scan = async (target: string, ...flags: string[]): Promise<Result> =>
    JSON.parse(await portolan('scan', target, '--no-fingerprint', '--format', 'json', ...flags)) as Result;

  it.each([
    ['raw packets', '10.94.5.5', ['--scan-type', 'syn'], 'tcp', 3, 13, '10.94.0.2'],
    ['raw packets', 'fd94:5::5', ['--scan-type', 'syn'], 'tcp', 1, 1, 'fd94::2'],
    ['threads', '10.94.5.5', ['--scan-type', 'connect', '--rate', '30000'], 'tcp', 3, 13, '10.94.0.2'],
    ['threads', 'fd94:5::5', ['--scan-type', 'connect', '--rate', '30000'], 'tcp', 1, 1, 'fd94::2'],
    ['UDP', '10.94.5.5', ['--scan-type', 'udp'], 'udp', 3, 13, '10.94.0.2'],
    ['UDP', 'fd94:5::5', ['--scan-type', 'udp'], 'udp', 1, 1, 'fd94::2'],
  ] as const)(
    'are kept with type, code and sender: %s to %s',
    async (_way, target, flags, protocol, type, code, from) => {
      const { partial, warnings, results } = await scan(target, ...flags, '--ports', '1001-1004');
      expect([partial, warnings, results.length]).toEqual([false, [], 1]);
      const { port_counts, port_reasons } = results[0] as HostRow;
      expect(port_counts).toEqual({ open: 0, closed: 1, filtered: 3, not_tried: 0 });
      const ports = [1001, 1002, 1003];
      expect(port_reasons).toContainEqual({
        protocol,
        state: 'filtered',
        reason: 'admin-prohibited',
        icmp: { type, code },
        from,
        count: 3,
        ports,
      });
      expect(port_reasons?.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    },
  );

  it.each([
    ['raw packets', ['--scan-type', 'syn']],
    ['threads', ['--scan-type', 'connect', '--rate', '30000']],
    ['sockets', ['--scan-type', 'connect', '--rate', '50']],
  ])('stand beside RST and silence, and each of few ports is named with its own: %s', async (_way, flags) => {
    const { results } = await scan('10.94.5.5', ...flags, '--ports', '1001,1004-1006');
    const reasons = (results[0] as HostRow).port_reasons?.map(({ state, reason, count, ports }) => [
      `${state} ${reason}`,
      count,
      ports,
    ]);
    expect(reasons?.sort()).toEqual([
      ['closed rst', 2, [1004, 1006]],
      ['filtered admin-prohibited', 1, [1001]],
      ['filtered no-response', 1, [1005]],
    ]);
    const table = await portolan(
      'scan',
      '10.94.5.5',
      '--no-fingerprint',
      ...flags,
      '--ports',
      '1001,1004-1006',
    );
    expect(table).toContain(
      'no open port: 1001/tcp filtered (admin-prohibited from 10.94.0.2), 1004, 1006/tcp closed (rst), 1005/tcp filtered (no response)',
    );
  });

  it.each([
    ['10.94.5.5', 3, 13, '10.94.0.2'],
    ['fd94:5::5', 1, 1, 'fd94::2'],
  ] as const)('are read from a socket of Node.js too: %s', async (host, type, code, from) => {
    const icmp = { type, code };
    expect(await own.run(probeScript, { host, port: 1001 })).toEqual({
      state: 'filtered',
      reason: 'admin-prohibited',
      rejection: { reason: 'admin-prohibited', icmp, from },
    });
    expect(await own.run(probeScript, { host, port: 1004 })).toEqual({ state: 'closed', reason: 'rst' });
  });

  it('are named by the table and by explain instead of silence', async () => {
    const table = await portolan('scan', '10.94.5.5', '--ports', '1001-1003', '--no-fingerprint');
    expect(table).toContain('no open port: 1001, 1002, 1003/tcp filtered (admin-prohibited from 10.94.0.2)');
    const why = await portolan('explain', '10.94.5.5:1002');
    expect(why).toContain('admin-prohibited from 10.94.0.2 (ICMP type 3, code 13)');
    expect(why).not.toContain('no SYN-ACK, RST or ICMP');
  });

  it.each([
    ['pings and raw packets', []],
    ['raw packets alone', ['--no-discover']],
  ])('about a host that does not respond are a warning with their sender: %s', async (_way, flags) => {
    const { warnings } = await scan('10.94.5.6', '--ports', '22', ...flags);
    const about = {
      code: 'host_unreachable',
      message: 'host-unreachable from 10.94.0.2',
      target: '10.94.5.6',
    };
    expect(warnings).toContainEqual(expect.objectContaining(about));
    const why = await portolan('explain', '10.94.5.6');
    expect(why).toContain('host-unreachable from 10.94.0.2');
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { canMakeNamespaces, Namespace } from '../../src/net/packets/fixtures/namespace.ts';
import { root } from '../program.ts';
import type { ScanRecord } from './two-hosts.ts';

if (!canMakeNamespaces) console.log('skipped: a link that goes away: needs root (network namespaces)');

describe.skipIf(!canMakeNamespaces)('a link that goes away in the middle of a scan', () => {
  let own: Namespace;
  let other: Namespace;

  beforeEach(() => {
    [own, other] = [new Namespace(), new Namespace()];
    own.join('eth0', other);
    own.ip('addr add 10.95.0.1/24 dev eth0');
    other.ip('addr add 10.95.0.2/24 dev eth0');
    // Without an Ethernet header the kernel routes each packet, as through a tunnel.
    own.join('tun0', other);
    own.ip('link set tun0 arp off');
    own.ip('addr add 10.96.0.1/24 dev tun0');
    other.exec('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0');
  });
  afterEach(() => {
    own?.close();
    other?.close();
  });

  const packets = (link: string) => Number(own.exec('cat', `/sys/class/net/${link}/statistics/tx_packets`));

  it.each([
    ['raw packets over a tunnel', 'tun0', '10.96.0.9', ['--scan-type', 'syn']],
    ['raw packets over Ethernet', 'eth0', '10.95.0.2', ['--scan-type', 'syn']],
    ['connections', 'eth0', '10.95.0.2', ['--scan-type', 'connect']],
    ['UDP', 'eth0', '10.95.0.2', ['--scan-type', 'udp', '--timeout', '500ms']],
  ])('makes it partial, with the reason and the count: %s', async (_way, link, target, flags) => {
    const args = ['scan', target, '--no-discover', '--ports', '1-6000', '--rate', '2000', '--retries', '0'];
    const command = ['netns', 'exec', own.name, process.execPath, join(root, 'bin/portolan'), ...args];
    const child = spawn('ip', [...command, ...flags, '--no-workspace', '--format', 'json'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = Promise.all([text(child.stdout), once(child, 'close')]);
    const before = packets(link);
    await vi.waitFor(() => expect(packets(link)).toBeGreaterThan(before + 100), { timeout: 60_000 });
    own.ip(`link del ${link}`);
    const [printed, [exitCode]] = await ended;
    const { status, partial, summary, warnings } = JSON.parse(printed) as ScanRecord & { partial: boolean };
    const { open, closed, filtered, not_tried } = summary.coverage;
    expect([status, partial, exitCode]).toEqual(['completed', true, 7]);
    expect(not_tried).toBeGreaterThan(1000);
    expect(open + closed + filtered + not_tried).toBe(6000);
    const counted = warnings.filter(({ code }) => code === 'packets_not_sent' || code === 'not_tried');
    const numbers = counted.flatMap(({ message }) => message.match(/\d[\d,]* (?=packet|port)/g) ?? []);
    const sum = numbers.reduce((total, number) => total + Number(number.replaceAll(',', '')), 0);
    expect(sum).toBe(not_tried);
  });
});

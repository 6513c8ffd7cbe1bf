import type { Host } from '../../domain/host.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule, type ExecContext } from '../../engine/module.ts';
import type { NetworkGate, PingResponse } from '../../net/gate/gate.ts';
import { AddressIterator } from '../address-iterator.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';
import { pingByConnect } from './connect-ping.ts';
import { discoveryOptions } from './discovery-options.ts';

/** Ports for TCP ping if ICMP is unavailable. */
const portsInstead = [443, 80];

type PingType = PingResponse['type'];

export default defineModule({
  name: 'icmp_discovery',
  type: 'discovery',
  version: '1.0.0',
  description:
    'Discovers live hosts by ICMP and ICMPv6 echo through a raw or a datagram socket, and by ICMP timestamps.',
  options: {
    ...discoveryOptions,
    types: {
      Type: 'string',
      Description:
        'ICMP messages to send, in this order until one gets a response; timestamp is IPv4 only and requires CAP_NET_RAW.',
      Default: 'echo',
      Enum: ['echo', 'timestamp', 'echo,timestamp'],
    },
  },
  requires: ['targets'],
  provides: ['discovered_hosts'],
  async execute(ctx, data) {
    const net = ctx.net.limitedTo(ctx.options.rate);
    const { method, reason } = net.pingMethod();
    const hosts = new AddressIterator(net.addresses, ctx.restored);
    const total = Number(net.addresses.size);
    ctx.checkpoint(() => hosts.state());
    if (method === 'none') {
      ctx.warn('icmp_unavailable', `discovering hosts by TCP connections instead of ICMP: ${reason}`);
      return await pingByConnect(hosts, { net, ports: portsInstead }, ctx, data);
    }
    const types = ctx.options.types.split(',') as PingType[];
    if (types.includes('timestamp')) warnOfTimestamps(net, method, types, ctx);
    const unreachable = new UnreachableHosts();
    const settle = (host: string) => {
      hosts.settle(host);
      if (hosts.settled % 256 === 0) ctx.progress(hosts.settled, total);
    };
    const responses = net.ping(hosts, {
      timeoutMs: ctx.options.timeout,
      retries: ctx.options.retry,
      signal: ctx.signal,
      types,
      onSilent: (host, rejection) => {
        if (rejection) unreachable.note(host, [rejection]);
        settle(host);
      },
    });
    await forEachItem(ctx, responses, { concurrency: 1 }, async ({ host, latencyMs, type }) => {
      const latency = Math.round(latencyMs * 1000) / 1000;
      await data.append<Host>('discovered_hosts', { ip: host, latency_ms: latency, method: `icmp-${type}` });
      settle(host);
    });
    unreachable.warn(ctx);
    ctx.progress(total, total);
  },
});

/** Warns which addresses get no timestamp request, and why. */
function warnOfTimestamps(
  net: NetworkGate,
  method: string,
  types: readonly PingType[],
  ctx: Pick<ExecContext, 'warn'>,
): void {
  const instead = types.includes('echo') ? 'probed by echo only' : 'not probed';
  const has = (family: 4 | 6) => net.addresses.intervals.some((interval) => interval.family === family);
  if (has(4) && method !== 'raw') {
    const reason = 'ICMP timestamps need a raw socket; grant CAP_NET_RAW';
    ctx.warn('timestamp_unavailable', `IPv4 addresses are ${instead}: ${reason}`, 'IPv4');
  }
  if (has(6)) {
    ctx.warn('timestamp_unavailable', `IPv6 addresses are ${instead}: ICMPv6 has no timestamps`, 'IPv6');
  }
}

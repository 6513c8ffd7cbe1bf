import type { Host } from '../../domain/host.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule } from '../../engine/module.ts';
import { AddressWalk } from '../address-walk.ts';
import { discoveryOptions } from './discovery-options.ts';

export default defineModule({
  name: 'icmp_discovery',
  type: 'discovery',
  version: '1.0.0',
  description: 'Finds live hosts by ICMP and ICMPv6 echo, through a raw or a datagram socket.',
  options: {
    ...discoveryOptions,
    types: {
      Type: 'string',
      Description: 'ICMP messages to send; this build knows echo only.',
      Default: 'echo',
      Enum: ['echo'],
    },
  },
  requires: ['targets'],
  provides: ['discovered_hosts'],
  async execute(ctx, data) {
    const net = ctx.net.limitedTo(ctx.options.rate);
    const { method, reason } = net.pingMethod();
    if (method === 'none') {
      ctx.warn('icmp_unavailable', `ICMP discovery was skipped: ${reason}`);
      return;
    }
    const hosts = new AddressWalk(net.addresses, ctx.restored);
    const total = Number(net.addresses.size);
    ctx.checkpoint(() => hosts.state());
    const settle = (host: string) => {
      hosts.settle(host);
      if (hosts.settled % 256 === 0) ctx.progress(hosts.settled, total);
    };
    const answers = net.ping(hosts, {
      timeoutMs: ctx.options.timeout,
      retries: ctx.options.retry,
      signal: ctx.signal,
      onSilent: settle,
    });
    await forEachItem(ctx, answers, { concurrency: 1 }, async ({ host, latencyMs }) => {
      const latency = Math.round(latencyMs * 1000) / 1000;
      await data.append<Host>('discovered_hosts', { ip: host, latency_ms: latency, method: 'icmp-echo' });
      settle(host);
    });
    ctx.progress(total, total);
  },
});

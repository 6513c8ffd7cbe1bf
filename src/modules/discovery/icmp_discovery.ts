import type { Host } from '../../domain/host.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule } from '../../engine/module.ts';
import { shuffled } from '../../net/packets/walk.ts';
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
    const { addresses } = net;
    const total = Number(addresses.size);
    let asked = 0;
    const hosts = function* () {
      for (const host of shuffled(addresses.size, (index) => addresses.at(index))) {
        asked += 1;
        if (asked % 256 === 0) ctx.progress(asked, total);
        yield host;
      }
    };
    const answers = net.ping(hosts(), {
      timeoutMs: ctx.options.timeout,
      retries: ctx.options.retry,
      signal: ctx.signal,
    });
    await forEachItem(ctx, answers, { concurrency: 1 }, async ({ host, latencyMs }) => {
      const latency = Math.round(latencyMs * 1000) / 1000;
      await data.append<Host>('discovered_hosts', { ip: host, latency_ms: latency, method: 'icmp-echo' });
    });
    ctx.progress(total, total);
  },
});

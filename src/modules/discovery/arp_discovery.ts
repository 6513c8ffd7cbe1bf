import type { Host } from '../../domain/host.ts';
import { forEachItem } from '../../engine/each.ts';
import { defineModule } from '../../engine/module.ts';
import { vendorOf } from '../../knowledge/hosts/oui.ts';
import { AddressIterator } from '../address-iterator.ts';
import { discoveryOptions } from './discovery-options.ts';

export default defineModule({
  name: 'arp_discovery',
  type: 'discovery',
  version: '1.0.0',
  description:
    'Discovers live hosts on directly attached links by ARP and IPv6 Neighbor Discovery, with MAC address and vendor; requires CAP_NET_RAW.',
  options: {
    ...discoveryOptions,
    interface: {
      Type: 'string',
      Description: 'Name of the interface to send on; empty = that of the scan, or every Ethernet link.',
      Default: '',
    },
  },
  requires: ['targets'],
  provides: ['discovered_hosts'],
  async execute(ctx, data) {
    const net = ctx.net.limitedTo(ctx.options.rate);
    const only = ctx.options.interface || null;
    const { addresses, obstacle, dead } = net.neighborhood(only);
    if (only !== null && dead.length > 0) throw new Error(dead.join('; '));
    if (dead.length > 0) ctx.warn('link_down', dead.join('; '));
    if (obstacle !== null) {
      ctx.warn('arp_unavailable', `ARP discovery skipped: ${obstacle}`);
      return;
    }
    const hosts = new AddressIterator(addresses, ctx.restored);
    const total = Number(addresses.size);
    ctx.checkpoint(() => hosts.state());
    const settle = (host: string) => {
      hosts.settle(host);
      if (hosts.settled % 256 === 0) ctx.progress(hosts.settled, total);
    };
    const responses = net.sweepNeighbors(hosts, {
      interface: only,
      timeoutMs: ctx.options.timeout,
      retries: ctx.options.retry,
      signal: ctx.signal,
      onSilent: settle,
    });
    await forEachItem(ctx, responses, { concurrency: 1 }, async ({ host, mac, latencyMs, method }) => {
      const found: Host = { ip: host, latency_ms: Math.round(latencyMs * 1000) / 1000, mac, method };
      const vendor = vendorOf(mac);
      if (vendor !== null) found.vendor = vendor;
      await data.append<Host>('discovered_hosts', found);
      settle(host);
    });
    ctx.progress(total, total);
  },
});

import { highestRate } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Host } from '../../domain/host.ts';
import { startRate } from '../../domain/packet-rate.ts';
import { groupedNumber } from '../../domain/text/grouped-number.ts';
import { defineModule } from '../../engine/module.ts';
import { leastRate, type RateBounds } from '../../net/adaptive/rate.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { areThisMachine } from '../../net/local-addresses.ts';
import { warmEngine } from '../../net/packets/engine/engine.ts';
import type { SweepJob } from '../../net/tcp/sweep-job.ts';
import { type ConnectState, sweepByConnect } from './connect-sweep.ts';
import { HostBatches } from './host-batches.ts';
import { plannedTcpPorts } from './port-plan.ts';
import { reportReachedRate } from './reached-rate.ts';
import { scanOptions } from './scan-options.ts';
import { SlicedScan, type SlicedScanState } from './sliced-scan.ts';
import { scanUdp } from './udp-scan.ts';

/** A resumed node keeps the method of its first run. */
type Saved = { way: 'syn'; state: SlicedScanState } | { way: 'connect'; state: ConnectState };

/** @param most packets per second to one host; 0 = no limit @param side number of jobs with the same hosts */
function boundsOf(most: number, side: number): RateBounds {
  return {
    start: Math.ceil(Math.min(startRate, most || startRate) / side),
    least: Math.ceil(leastRate / side),
    most: Math.ceil((most || highestRate) / side),
  };
}

/** Why connections suffice here, or null. */
function whyConnections({ addresses }: NetworkGate, saved: Saved | null): string | null {
  if (saved) return saved.way === 'connect' ? 'the scan started with them' : null;
  return areThisMachine(addresses) ? 'every target is this machine' : null;
}

export default defineModule({
  name: 'syn_scanner',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Finds open TCP ports by half-open connections: raw SYN packets with keyed sequence numbers, so that forged responses do not count. Requires ' +
    'CAP_NET_RAW; without it the module makes connections instead, with a warning, and always to addresses of this machine itself. With protocol udp ' +
    'it runs udp_scanner.',
  options: {
    ...scanOptions,
    interface: {
      Type: 'string',
      Description: 'Name of the interface to send from; empty = that of the scan, or by the routing table.',
      Default: '',
    },
    source_ip: {
      Type: 'string',
      Description: 'Source address of the probes; empty = that of the scan, or by the routing table.',
      Default: '',
    },
    host_rate: {
      Type: 'int',
      Description: 'Maximum packets per second to one host; 0 = only the rate applies.',
      Default: 0,
      Min: 0,
      Max: 10_000_000,
    },
    fallback: {
      Type: 'bool',
      Description:
        'Scan by connections where raw packets are not permitted, and addresses of this machine itself; off = raw packets or nothing.',
      Default: true,
    },
  },
  requires: ['discovered_hosts|targets'],
  provides: ['open_ports', 'port_counts'],
  prepare({ fallback, protocol }, addresses) {
    if (protocol === 'udp') return;
    if (fallback === false || !areThisMachine(addresses)) warmEngine();
  },
  async execute(given, data) {
    const { interface: link, source_ip: sourceIp, host_rate } = given.options;
    const ctx = { ...given, net: given.net.through({ interface: link, sourceIp }) };
    if (ctx.options.protocol === 'udp') {
      ctx.method('UDP probes: protocol is udp');
      return await scanUdp(ctx, data);
    }
    const saved = ctx.restored as Saved | null;
    const net = ctx.net.limitedTo(ctx.options.rate);
    const connections = ctx.options.fallback ? whyConnections(ctx.net, saved) : null;
    const obstacle = connections === null ? await net.synObstacle(ctx.signal) : null;
    if (connections !== null || obstacle !== null) {
      if (!ctx.options.fallback) throw new PortolanError('permission', `no raw packets: ${obstacle}`);
      const connecting = `connections: ${connections ?? obstacle}`;
      ctx.method(connecting);
      if (obstacle !== null)
        ctx.warn('syn_fallback', `scanning ports by connections instead of raw packets: ${obstacle}`);
      const state = saved?.way === 'connect' ? saved.state : null;
      await sweepByConnect(ctx, data, state, (now) =>
        ctx.checkpoint(() => ({ way: 'connect', state: now() }) satisfies Saved),
      );
      return reportReachedRate(ctx, connecting);
    }
    const way = 'raw packets: CAP_NET_RAW is available';
    ctx.method(way);
    const before = saved?.way === 'syn' ? saved.state : null;
    const discovered = data.has('discovered_hosts');
    const ports = plannedTcpPorts(ctx.options);
    const hosts = discovered
      ? HostBatches.discovered(data.stream<Host>('discovered_hosts'), ports.length)
      : HostBatches.of(ctx.net.addresses, before?.walk ?? null, ports.length);
    let isHeld = false;
    const sweep = (job: SweepJob, side: number, hostRate?: number) => {
      isHeld ||= host_rate > 0 && host_rate * job.hosts.length < ctx.options.rate;
      return net.sweepSyn({
        ...job,
        hostRate: hostRate ?? host_rate / side,
        ...(hostRate === undefined && ctx.net.reached && { rateBounds: boundsOf(host_rate, side) }),
      });
    };
    const scan = new SlicedScan({ ctx, data, sweep, ports, hosts, knownUp: discovered, before });
    ctx.checkpoint(() => ({ way: 'syn', state: scan.state() }) satisfies Saved);
    await scan.run();
    reportReachedRate(ctx, way);
    const { reached } = ctx.net;
    if (isHeld && (reached === null || reached.highest >= host_rate)) {
      const limit = `${groupedNumber(host_rate)} packets per second to one host`;
      ctx.warn('host_rate', `the option host_rate of syn_scanner held the scan at ${limit}`);
    }
  },
});

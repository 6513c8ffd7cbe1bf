import { PortolanError } from '../../domain/errors.ts';
import { parsePorts } from '../../domain/port.ts';
import { defineModule, type ExecContext } from '../../engine/module.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { areThisMachine } from '../../net/local-addresses.ts';
import { warmEngine } from '../../net/packets/engine/engine.ts';
import { AddressIterator, type IteratorState } from '../address-iterator.ts';
import { pingByConnect } from './connect-ping.ts';
import { discoveryOptions } from './discovery-options.ts';
import { SynProbe, type SynProbeState } from './syn-probe.ts';

/** A resumed node keeps the method of its first run. */
type Saved = { way: 'syn'; state: SynProbeState } | { way: 'connect'; walk: IteratorState };

export default defineModule({
  name: 'tcp_probe_discovery',
  type: 'discovery',
  version: '1.0.0',
  description: 'Discovers live hosts by TCP: a host that accepts or refuses a connection is up.',
  options: {
    ...discoveryOptions,
    ports: {
      Type: 'string',
      Description: 'Ports to try on every host.',
      Default: '80,443,22,25',
    },
    method: {
      Type: 'string',
      Description:
        'syn sends raw SYN packets, which requires CAP_NET_RAW; connect makes full connections; ' +
        'auto sends raw packets where permitted, and connects to addresses of this machine itself.',
      Default: 'auto',
      Enum: ['auto', 'syn', 'connect'],
    },
  },
  requires: ['targets'],
  provides: ['discovered_hosts'],
  prepare({ method = 'auto' }, addresses) {
    if (method === 'syn' || (method === 'auto' && !areThisMachine(addresses))) warmEngine();
  },
  async execute(ctx, data) {
    const ports = parsePorts(ctx.options.ports, portCatalog).tcp;
    const net = ctx.net.limitedTo(ctx.options.rate);
    const saved = ctx.restored as Saved | null;
    const way = saved ? begunWay(saved, ctx) : await chooseWay(ctx.options.method, net, ctx);
    if (way === 'connect') {
      const walk = saved?.way === 'connect' ? saved.walk : null;
      const hosts = new AddressIterator(net.addresses, walk);
      ctx.checkpoint(() => ({ way: 'connect', walk: hosts.state() }) satisfies Saved);
      return await pingByConnect(hosts, { net, ports }, ctx, data);
    }
    const before = saved?.way === 'syn' ? saved.state : null;
    const probe = new SynProbe({ ctx, data, net, ports, before });
    ctx.checkpoint(() => ({ way: 'syn', state: probe.state() }) satisfies Saved);
    await probe.run();
  },
});

function begunWay({ way }: Saved, ctx: Pick<ExecContext, 'method'>): Saved['way'] {
  ctx.method(`${way === 'syn' ? 'raw packets' : 'connections'}: the scan started with them`);
  return way;
}

/** @throws PortolanError `permission` if raw packets were requested but are not available */
async function chooseWay(
  method: string,
  net: NetworkGate,
  ctx: Pick<ExecContext, 'signal' | 'method'>,
): Promise<Saved['way']> {
  const connections = whyConnections(method, net);
  const obstacle = connections === null ? await net.synObstacle(ctx.signal) : null;
  if (obstacle !== null && method === 'syn')
    throw new PortolanError('permission', `no raw packets: ${obstacle}`);
  const why = connections ?? obstacle;
  ctx.method(why === null ? 'raw packets: CAP_NET_RAW is available' : `connections: ${why}`);
  return why === null ? 'syn' : 'connect';
}

/** Why to use connections without checking for raw packets, or null. */
function whyConnections(method: string, { addresses }: NetworkGate): string | null {
  if (method === 'connect') return 'requested';
  return method === 'auto' && areThisMachine(addresses) ? 'every target is this machine' : null;
}

import { PortolanError } from '../../domain/errors.ts';
import type { Host } from '../../domain/host.ts';
import { parsePorts } from '../../domain/port.ts';
import { type DataContext, defineModule, type ExecContext } from '../../engine/module.ts';
import { portCatalogue } from '../../knowledge/ports.ts';
import { onAbort, pause } from '../../net/abort.ts';
import type { NetworkGate } from '../../net/gate.ts';
import { areThisMachine } from '../../net/own-addresses.ts';
import { warmEngine } from '../../net/packets/engine.ts';
import { AddressWalk, type WalkState } from '../address-walk.ts';
import { discoveryOptions } from './discovery-options.ts';
import { SynProbe, type SynProbeState } from './syn-probe.ts';

/** Hosts that are waited for at the same time. */
const hostsAtOnce = 256;
/** Head start of a port before the next one is tried. */
const staggerMs = 50;
/** Reason of the abort that ends the other probes of a host; a shared one, because each own one would cost a stack. */
const answered = new Error('the host has answered');

/** Whichever way was taken before an interruption is taken again. */
type Saved = { way: 'syn'; state: SynProbeState } | { way: 'connect'; walk: WalkState };

export default defineModule({
  name: 'tcp_probe_discovery',
  type: 'discovery',
  version: '1.0.0',
  description: 'Finds live hosts by TCP: a host that accepts or refuses a connection is up.',
  options: {
    ...discoveryOptions,
    ports: {
      Type: 'string',
      Description: 'Ports that are tried on every host.',
      Default: '80,443,22,25',
    },
    method: {
      Type: 'string',
      Description:
        'syn sends raw SYN packets, which needs CAP_NET_RAW and a process of its own; connect makes full connections; ' +
        'auto sends raw packets where that is allowed, and connects to this machine itself.',
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
    const ports = parsePorts(ctx.options.ports, portCatalogue).tcp;
    const net = ctx.net.limitedTo(ctx.options.rate);
    const saved = ctx.restored as Saved | null;
    const way = saved ? begunWay(saved, ctx) : await chooseWay(ctx.options.method, net, ctx);
    if (way === 'connect') {
      const walk = saved?.way === 'connect' ? saved.walk : null;
      return await knockOnAll(new AddressWalk(net.addresses, walk), { net, ports }, ctx, data);
    }
    const before = saved?.way === 'syn' ? saved.state : null;
    const probe = new SynProbe({ ctx, data, net, ports, before });
    ctx.checkpoint(() => ({ way: 'syn', state: probe.state() }) satisfies Saved);
    await probe.run();
  },
});

function begunWay({ way }: Saved, ctx: Pick<ExecContext, 'method'>): Saved['way'] {
  ctx.method(`${way === 'syn' ? 'raw packets' : 'connections'}: the scan began with them`);
  return way;
}

/** @throws PortolanError `permission` when raw packets were asked for and cannot be had */
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
  ctx.method(why === null ? 'raw packets: CAP_NET_RAW is there' : `connections: ${why}`);
  return why === null ? 'syn' : 'connect';
}

/** Why connections are made before anybody has looked for the right to raw packets, or null. */
function whyConnections(method: string, { addresses }: NetworkGate): string | null {
  if (method === 'connect') return 'asked for';
  return method === 'auto' && areThisMachine(addresses) ? 'every target is this machine' : null;
}

async function knockOnAll(
  hosts: AddressWalk,
  { net, ports }: { net: NetworkGate; ports: number[] },
  ctx: Pick<ExecContext, 'signal' | 'progress' | 'checkpoint'> & {
    options: { timeout: number; retry: number };
  },
  data: DataContext,
): Promise<void> {
  const total = Number(net.addresses.size);
  ctx.checkpoint(() => ({ way: 'connect', walk: hosts.state() }) satisfies Saved);
  const knock = { net, ports, timeoutMs: ctx.options.timeout, retries: ctx.options.retry };
  // The lanes share one iterator: each takes the next host when it is done with one.
  const lane = async () => {
    for (const host of hosts) {
      if (ctx.signal.aborted) return;
      await knockOn(host, knock, ctx, data);
      // A host that the abort cut short has no outcome.
      if (!ctx.signal.aborted) hosts.settle(host);
      ctx.progress(hosts.settled, total);
    }
  };
  await Promise.all(Array.from({ length: Math.min(hostsAtOnce, total) }, lane));
  ctx.signal.throwIfAborted();
}

interface Knock {
  net: NetworkGate;
  ports: number[];
  timeoutMs: number;
  retries: number;
}

/** Silent hosts are tried again. */
async function knockOn(host: string, knock: Knock, ctx: Pick<ExecContext, 'signal'>, data: DataContext) {
  for (let left = knock.retries; left >= 0 && !ctx.signal.aborted; left--) {
    const found = await firstSignOfLife(host, knock, ctx.signal);
    if (!found) continue;
    await data.append<Host>('discovered_hosts', found);
    return;
  }
}

/**
 * Tries one port after the other, each a moment after the one before: a host that answers at once gets one packet,
 * a silent one costs hardly more time than if all were tried together.
 */
async function firstSignOfLife(host: string, knock: Knock, signal: AbortSignal): Promise<Host | null> {
  const enough = new AbortController();
  const forget = onAbort(signal, () => enough.abort(answered));
  let found: Host | null = null;
  const probe = async (port: number) => {
    const options = { timeoutMs: knock.timeoutMs, signal: enough.signal };
    const { state, reason, latencyMs } = await knock.net.probeTcp(host, port, options);
    if (found || (state !== 'open' && state !== 'closed')) return;
    const method = state === 'closed' ? 'tcp-rst' : 'tcp-syn-ack';
    found = { ip: host, latency_ms: Math.round(latencyMs * 1000) / 1000, method };
    if (reason === 'self-connection') found.latency_ms = null;
    enough.abort(answered);
  };
  const probes: Promise<void>[] = [];
  for (const port of knock.ports) {
    if (enough.signal.aborted) break;
    const current = probe(port);
    probes.push(current);
    await Promise.race([current, pause(staggerMs, enough.signal)]);
  }
  await Promise.all(probes);
  forget();
  return found;
}

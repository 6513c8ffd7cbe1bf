import type { Host, ProbeRejection } from '../../domain/host.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import { onAbort, pause } from '../../net/abort.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import type { AddressIterator } from '../address-iterator.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';

/** Hosts pinged concurrently. */
const hostsAtOnce = 256;
/** Head start of a port before the next one is tried. */
const staggerMs = 50;
/** Abort reason for the other probes of a host; shared, because a new one would capture a stack trace each time. */
const responded = new Error('the host has responded');

/**
 * Discovers live hosts by TCP connections: a host that accepts or refuses is up. Completes each host once its outcome
 * is known.
 * @param hosts hosts of the scan, or the rest of an interrupted run
 */
export async function pingByConnect(
  hosts: AddressIterator,
  { net, ports }: { net: NetworkGate; ports: number[] },
  ctx: Pick<ExecContext, 'signal' | 'progress' | 'warn'> & {
    options: { timeout: number; retry: number };
  },
  data: DataContext,
): Promise<void> {
  const total = Number(net.addresses.size);
  const unreachable = new UnreachableHosts();
  const ping = { net, ports, timeoutMs: ctx.options.timeout, retries: ctx.options.retry };
  // The workers share one iterator: each takes the next host when it is done with one.
  const lane = async () => {
    for (const host of hosts) {
      if (ctx.signal.aborted) return;
      await pingHost(host, ping, ctx, data, unreachable);
      // A host interrupted by the abort has no outcome.
      if (!ctx.signal.aborted) hosts.settle(host);
      ctx.progress(hosts.settled, total);
    }
  };
  await Promise.all(Array.from({ length: Math.min(hostsAtOnce, total) }, lane));
  unreachable.warn(ctx);
  ctx.signal.throwIfAborted();
}

interface ConnectPing {
  net: NetworkGate;
  ports: number[];
  timeoutMs: number;
  retries: number;
}

/** Errors that came instead of a response. */
interface PingErrors {
  /** One came: the next tries ask which. */
  hasCome: boolean;
  rejections: ProbeRejection[];
}

/** Retries silent hosts. */
async function pingHost(
  host: string,
  ping: ConnectPing,
  ctx: Pick<ExecContext, 'signal'>,
  data: DataContext,
  unreachable: UnreachableHosts,
) {
  const errors: PingErrors = { hasCome: false, rejections: [] };
  for (let left = ping.retries; left >= 0 && !ctx.signal.aborted; left--) {
    const found = await firstResponse(host, ping, ctx.signal, errors);
    if (!found) continue;
    await data.append<Host>('discovered_hosts', found);
    return;
  }
  unreachable.note(host, errors.rejections);
}

/**
 * Tries one port after the other with a short delay: a host that responds at once gets one packet, a silent one takes
 * hardly longer than if all were tried at once.
 */
async function firstResponse(
  host: string,
  ping: ConnectPing,
  signal: AbortSignal,
  errors: PingErrors,
): Promise<Host | null> {
  const enough = new AbortController();
  const forget = onAbort(signal, () => enough.abort(responded));
  let found: Host | null = null;
  const probe = async (port: number) => {
    const options = { timeoutMs: ping.timeoutMs, signal: enough.signal, explains: errors.hasCome };
    const { state, reason, latencyMs, rejection } = await ping.net.probeTcp(host, port, options);
    errors.hasCome ||= state === 'filtered' && reason !== 'no-response';
    if (rejection) errors.rejections.push(rejection);
    if (found || (state !== 'open' && state !== 'closed')) return;
    const method = state === 'closed' ? 'tcp-rst' : 'tcp-syn-ack';
    found = { ip: host, latency_ms: Math.round(latencyMs * 1000) / 1000, method };
    if (reason === 'self-connection') found.latency_ms = null;
    enough.abort(responded);
  };
  const probes: Promise<void>[] = [];
  for (const port of ping.ports) {
    if (enough.signal.aborted) break;
    const current = probe(port);
    probes.push(current);
    await Promise.race([current, pause(staggerMs, enough.signal)]);
  }
  await Promise.all(probes);
  forget();
  return found;
}

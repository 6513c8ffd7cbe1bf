import type { Endpoint, Host, Port, PortCounts } from '../../domain/host.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { type DataContext, defineModule } from '../../engine/module.ts';
import { isUntouchable } from '../../knowledge/probes/probes.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { shuffled } from '../../net/packets/frame/permutation.ts';
import { targetNames } from '../target-names.ts';
import { readBrokenHandshake } from './broken-handshake.ts';
import { emptyBanner, type PortSessionSettings } from './port-connections.ts';
import { enumeratePort } from './port-enumeration.ts';
import { plannedTcpPorts } from './port-plan.ts';
import { type PortSession, probePort } from './port-session.ts';
import { scanOptions } from './scan-options.ts';
import { SessionPlaces, type SessionReport } from './session-places.ts';
import { SlowHosts } from './slow-hosts.ts';
import { probeUdpPort } from './udp-session.ts';

/** Ports of a host probed before it is known whether it is a tarpit. */
const deepPortsOfTarpit = 64;

/** Factor on timeouts if probes of a port timed out. */
const longStretch = 3;

/** The same for a port without any response. */
const silentStretch = 2;

export default defineModule({
  name: 'banner_grabber',
  type: 'scanner',
  version: '1.0.0',
  description:
    'Identifies services on open ports: listens, then sends harmless read commands, with and without TLS.',
  options: {
    ...scanOptions,
    max_bytes: {
      Type: 'int',
      Description: 'Maximum bytes kept of one response; of an HTTP response, bytes of the body.',
      Default: 65_536,
      Min: 256,
      Max: 1_048_576,
    },
    probes: {
      Type: 'string',
      Description:
        'none = only listen; safe = read commands that fit the port; all = same as safe in this build.',
      Default: 'safe',
      Enum: ['none', 'safe', 'all'],
    },
    tls: { Type: 'bool', Description: 'Try TLS and STARTTLS handshakes.', Default: true },
    tls_enumerate: {
      Type: 'bool',
      Description:
        'Enumerate the TLS versions, cipher suites and groups a server accepts, by many handshakes (requires tls); also request the RSA key and shortest group of SSH servers, and a compressed page from web servers over TLS.',
      Default: false,
    },
    intrusive: {
      Type: 'bool',
      Description:
        'Allow anonymous FTP login and, with tls_enumerate, test whether a server leaks memory (Heartbleed, Ticketbleed), decrypts for others (ROBOT) or encrypts before a key is agreed upon (early ChangeCipherSpec).',
      Default: false,
    },
  },
  requires: ['open_ports|discovered_hosts|targets'],
  provides: ['banners'],
  reads: ['port_counts', 'targets'],
  async execute(ctx, data) {
    const { options, signal } = ctx;
    if (options.protocol === 'udp') throw new Error('banner_grabber supports only TCP ports in this build');
    const net = ctx.net.limitedTo(options.rate);
    const settings: PortSessionSettings = {
      net,
      signal,
      timeoutMs: options.timeout,
      maxBytes: options.max_bytes,
      ask: options.probes !== 'none',
      tls: options.tls,
      intrusive: options.intrusive,
      thorough: options.tls_enumerate,
      names: await targetNames(data),
      slowHosts: new SlowHosts(),
      stretch: 1,
      onConnected: () => undefined,
    };
    let done = 0;
    const grab = async ({ host, port, protocol, probed }: PlannedPort, report: SessionReport) => {
      if (protocol === 'udp') {
        if (probed && settings.ask) await data.append<Banner>('banners', ...(await probeUdp(host, port)));
        return;
      }
      // Probed before an interruption; the record has the response.
      if (ctx.recorded('banners', { host, port })) {
        done += 1;
        return;
      }
      const endpoint = { host, port, protocol: 'tcp' as const };
      const banners =
        isUntouchable(port) || !probed ? [emptyBanner(endpoint)] : await probeWithRetries(endpoint, report);
      const shown = settings.tls ? await readBroken(endpoint, banners) : banners;
      const enumerated = options.tls_enumerate && settings.tls ? await enumerate(endpoint, shown) : shown;
      if (signal.aborted) return;
      await data.append<Banner>('banners', ...enumerated);
      done += 1;
      ctx.progress(done);
    };
    const probeUdp = (host: string, port: number) =>
      net.throughPauses(
        () => probeUdpPort({ host, port }, { ...settings, retries: options.retries }),
        signal,
      );
    const readBroken = (endpoint: Endpoint, banners: Banner[]) =>
      net.throughPauses(() => readBrokenHandshake(endpoint, banners, settings), signal);
    const enumerate = (endpoint: Endpoint, banners: Banner[]) =>
      settings.ask
        ? net.throughPauses(() => enumeratePort(endpoint, banners, settings), signal)
        : Promise.resolve(banners);
    const fromScan = data.has('open_ports');
    const probeWithRetries = async (endpoint: Endpoint, report: SessionReport): Promise<Banner[]> => {
      const { connected: onConnected } = report;
      const probeOnce = (stretch: number) =>
        net.throughPauses(() => probePort(endpoint, { ...settings, stretch, onConnected }), signal);
      settings.slowHosts.probing(endpoint.host);
      for (let left = options.retries; ; left--) {
        const outcome = await probeOnce(1);
        if (!('failure' in outcome)) {
          if (left <= 0 || signal.aborted || !mayHaveMore(outcome, endpoint.host, settings.slowHosts))
            return marked(outcome);
          const stretch = outcome.silent ? silentStretch : longStretch;
          return marked(richer(outcome, await probeOnce(stretch)));
        }
        // A port seen open by a scanner is listed even if it refuses connections now.
        if (outcome.failure.state === 'closed' || left <= 0) {
          report.failed(outcome.failure);
          return fromScan ? [unreachedBanner(endpoint, outcome.failure)] : [];
        }
      }
    };
    const ports = fromScan ? openPorts(data) : everyPort(hostsOf(data, net), plannedTcpPorts(options));
    const places = new SessionPlaces({ ...options, knownOpen: fromScan, signal });
    await forEachItem(ctx, ports, { concurrency: () => places.limit }, (port) =>
      places.use(port.host, (report) => grab(port, report)),
    );
  },
});

/** Whether more time may reveal more about a port. */
function mayHaveMore(
  { shortage, identified, endless }: PortSession,
  host: string,
  slowHosts: SlowHosts,
): boolean {
  return shortage !== null && !endless && (identified || slowHosts.retryUnknown(host));
}

/** The better of two sessions of one port: the later had more time, unless it learned less anyway. */
function richer(earlier: PortSession, later: PortSession | { failure: unknown }): PortSession {
  if ('failure' in later) return { ...earlier, shortage: 'timeout' };
  return later.shortage === null || later.worth >= earlier.worth ? later : earlier;
}

/** For a port that refused all connections although a scanner saw it open. */
function unreachedBanner(endpoint: Endpoint, { state, reason }: PortObservation): Banner {
  const banner = emptyBanner(endpoint);
  if (reason === 'own_listener') return banner;
  const gone = state === 'closed' || reason === 'out_of_scope';
  return { ...banner, unidentified_reason: gone ? 'cut' : 'timeout' };
}

function marked({ banners, shortage }: PortSession): Banner[] {
  const [first, ...others] = banners;
  return first && shortage !== null ? [{ ...first, unidentified_reason: shortage }, ...others] : banners;
}

interface PlannedPort {
  host: string;
  port: number;
  protocol: 'tcp' | 'udp';
  /** False = listed only, without a connection. */
  probed: boolean;
}

/** Every port of every host: tries each, and those that accept are open. */
async function* everyPort(
  hosts: AsyncIterable<string>,
  ports: readonly number[],
): AsyncGenerator<PlannedPort> {
  for await (const host of hosts) {
    for (const port of ports) if (!isUntouchable(port)) yield { host, port, protocol: 'tcp', probed: true };
  }
}

async function* hostsOf(data: DataContext, net: NetworkGate): AsyncGenerator<string> {
  if (data.has('discovered_hosts')) {
    for await (const host of data.stream<Host>('discovered_hosts')) yield host.ip;
  } else {
    yield* shuffled(net.addresses.size, (index) => net.addresses.at(index));
  }
}

/** State of a host while its open ports arrive. */
interface HostBudget {
  probed: number;
  /** Ports that wait for the verdict whether the host is a tarpit. */
  held: number[];
}

/**
 * The open TCP ports as they arrive. Probes the first 64 of a host at once; more wait until its sweep has ended, and
 * are only listed if the host is a tarpit or has no verdict.
 */
async function* openPorts(data: DataContext): AsyncGenerator<PlannedPort> {
  const budgets = new Map<string, HostBudget>();
  const verdicts = data.has('port_counts') ? followVerdicts(data) : null;
  for await (const port of data.stream<Port>('open_ports')) {
    if (port.protocol === 'udp') {
      // The port was silent to the scanner, and would be silent now.
      if (port.state === 'open')
        yield { host: port.host, port: port.port, protocol: 'udp', probed: !isUntouchable(port.port) };
      continue;
    }
    const budget = budgets.get(port.host) ?? { probed: 0, held: [] };
    budgets.set(port.host, budget);
    if (budget.probed < deepPortsOfTarpit) {
      budget.probed += 1;
      yield { host: port.host, port: port.port, protocol: 'tcp', probed: true };
    } else {
      budget.held.push(port.port);
      yield* releaseHeld(port.host, budget, verdicts?.liar.get(port.host));
    }
  }
  await verdicts?.ended;
  for (const [host, budget] of budgets) yield* releaseHeld(host, budget, verdicts?.liar.get(host) ?? true);
}

function* releaseHeld(host: string, budget: HostBudget, liar: boolean | undefined): Generator<PlannedPort> {
  if (liar === undefined) return;
  for (const port of budget.held) yield { host, port, protocol: 'tcp', probed: !liar };
  budget.held = [];
}

/** Collects concurrently which hosts are tarpits; only hosts with many open ports matter. */
function followVerdicts(data: DataContext): { liar: Map<string, boolean>; ended: Promise<void> } {
  const liar = new Map<string, boolean>();
  const follow = async () => {
    for await (const counts of data.stream<PortCounts>('port_counts')) {
      if (counts.protocol === 'tcp' && counts.open > deepPortsOfTarpit)
        liar.set(counts.host, counts.all_ports_open);
    }
  };
  // If the sweep failed, its hosts stay without a verdict.
  return { liar, ended: follow().catch(() => undefined) };
}

import { type Endpoint, type Host, type Port, type PortCounts, zeroWindow } from '../../domain/host.ts';
import { type Banner, bannerText, tlsRejection, type UnidentifiedReason } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { type DataContext, defineModule } from '../../engine/module.ts';
import { serviceOf } from '../../knowledge/probes/first-bytes.ts';
import { isUntouchable, probeForPort } from '../../knowledge/probes/probes.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { shuffled } from '../../net/packets/frame/permutation.ts';
import { firstNames, targetNames } from '../target-names.ts';
import { readBrokenHandshake } from './broken-handshake.ts';
import type { HostEvidence, PortSign } from './host-evidence.ts';
import { OpenPorts, type PlannedPort } from './open-ports.ts';
import { emptyBanner, type PortSessionSettings } from './port-connections.ts';
import { enumeratePort } from './port-enumeration.ts';
import { plannedTcpPorts } from './port-plan.ts';
import { type PortSession, probePort } from './port-session.ts';
import { scanOptions } from './scan-options.ts';
import { SessionPlaces, type SessionReport } from './session-places.ts';
import { probeSites, SiteNames } from './site-probing.ts';
import { SlowHosts } from './slow-hosts.ts';
import { TarpitWarning } from './tarpit-warning.ts';
import { probeUdpPort } from './udp-session.ts';

/** Factor on timeouts if probes of a port timed out. */
const longStretch = 3;

/** The same for a port without any response. */
const silentStretch = 2;

/** Characters at the start of responses that are compared between ports of a host. */
const comparedCharacters = 64;

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
    max_sites: {
      Type: 'int',
      Description:
        'Maximum number of host names of one address, beside its first, that are requested as sites of their own.',
      Default: 16,
      Min: 0,
      Max: 1000,
    },
    intrusive: {
      Type: 'bool',
      Description:
        'Allow anonymous FTP login, all probes at ports of control systems and, with tls_enumerate, test whether a server leaks memory (Heartbleed, Ticketbleed), decrypts for others (ROBOT) or encrypts before a key is agreed upon (early ChangeCipherSpec).',
      Default: false,
    },
  },
  requires: ['open_ports|discovered_hosts|targets'],
  provides: ['banners', 'port_counts'],
  reads: ['port_counts', 'targets'],
  async execute(ctx, data) {
    const { options, signal } = ctx;
    if (options.protocol === 'udp') throw new Error('banner_grabber supports only TCP ports in this build');
    const net = ctx.net.limitedTo(options.rate);
    const names = await targetNames(data);
    const sites = new SiteNames(names, options.max_sites);
    if (options.probes !== 'none') sites.warn(ctx);
    const settings: PortSessionSettings = {
      net,
      signal,
      timeoutMs: options.timeout,
      maxBytes: options.max_bytes,
      ask: options.probes !== 'none',
      tls: options.tls,
      intrusive: options.intrusive,
      thorough: options.tls_enumerate,
      names: firstNames(names),
      slowHosts: new SlowHosts(),
      stretch: 1,
      onConnected: () => undefined,
    };
    let done = 0;
    const grab = async (
      { host, port, protocol, skipped, first }: PlannedPort,
      report: SessionReport,
    ): Promise<PortSign | null> => {
      if (protocol === 'udp') {
        if (settings.ask) await data.append<Banner>('banners', ...(await probeUdp(host, port)));
        return null;
      }
      const endpoint = { host, port, protocol: 'tcp' as const };
      // Probed before an interruption; the record has the response.
      if (ctx.recorded('banners', endpoint)) {
        done += 1;
        return recordedSign(endpoint, ctx.recorded('service_fingerprints', endpoint));
      }
      const probing = skipped
        ? { banners: [unidentified(endpoint, skipped)], sign: null }
        : await probeWithRetries(endpoint, report, first);
      if (probing.sign?.response) first?.(probing.sign);
      const shown = !skipped && settings.tls ? await readBroken(endpoint, probing.banners) : probing.banners;
      const enumerated =
        !skipped && options.tls_enumerate && settings.tls ? await enumerate(endpoint, shown) : shown;
      const complete = !skipped && settings.ask ? await probeNames(endpoint, enumerated) : enumerated;
      if (signal.aborted) return null;
      await data.append<Banner>('banners', ...complete);
      done += 1;
      ctx.progress(done);
      // Many services wait for the client: who only listens learns nothing from silence.
      return settings.ask || probing.sign?.response ? probing.sign : null;
    };
    const probeUdp = (host: string, port: number) =>
      net.throughPauses(
        () => probeUdpPort({ host, port }, { ...settings, retries: options.retries }),
        signal,
      );
    const readBroken = (endpoint: Endpoint, banners: Banner[]) =>
      net.throughPauses(() => readBrokenHandshake(endpoint, banners, settings), signal);
    const probeNames = (endpoint: Endpoint, banners: Banner[]) =>
      net.throughPauses(() => probeSites(endpoint, banners, sites.of(endpoint.host), settings), signal);
    const enumerate = (endpoint: Endpoint, banners: Banner[]) =>
      settings.ask
        ? net.throughPauses(() => enumeratePort(endpoint, banners, settings), signal)
        : Promise.resolve(banners);
    const fromScan = data.has('open_ports');
    const probeWithRetries = async (
      endpoint: Endpoint,
      report: SessionReport,
      first: PlannedPort['first'],
    ): Promise<Probing> => {
      const { connected: onConnected } = report;
      let isFirst = true;
      const onHeard = (received: Buffer) => {
        if (isFirst) first?.(firstSign(endpoint, received, options.intrusive));
        isFirst = false;
      };
      const probeOnce = (stretch: number) =>
        net.throughPauses(() => probePort(endpoint, { ...settings, stretch, onConnected, onHeard }), signal);
      settings.slowHosts.probing(endpoint.host);
      for (let left = options.retries; ; left--) {
        const outcome = await probeOnce(1);
        if (!('failure' in outcome)) {
          if (left <= 0 || signal.aborted || !mayHaveMore(outcome, endpoint.host, settings.slowHosts))
            return probingOf(endpoint, outcome, options.intrusive);
          const stretch = outcome.silent ? silentStretch : longStretch;
          return probingOf(endpoint, richer(outcome, await probeOnce(stretch)), options.intrusive);
        }
        // A port seen open by a scanner is listed even if it refuses connections now.
        if (outcome.failure.state === 'closed' || left <= 0) {
          report.failed(outcome.failure);
          return { banners: fromScan ? [unreachedBanner(endpoint, outcome.failure)] : [], sign: null };
        }
      }
    };
    const tarpits = new TarpitWarning();
    const onVerdict = async (host: string, evidence: HostEvidence) => {
      const { counts, isTarpit } = evidence;
      const unproven = isTarpit
        ? evidence.silent
        : evidence.silent.filter(({ reason }) => reason === zeroWindow);
      if (unproven.length > 0)
        await data.append<Banner>('banners', ...unproven.map((port) => unidentified(port, 'unproven')));
      if (isTarpit && evidence.lifeless + evidence.left > 0) tarpits.note(host, evidence);
      if (!counts || counts.all_ports_open === isTarpit) return;
      const { stack: _published, ...others } = counts;
      await data.append<PortCounts>('port_counts', { ...others, all_ports_open: isTarpit });
    };
    const openPorts = fromScan
      ? new OpenPorts({
          ports: data.stream<Port>('open_ports'),
          counts: data.has('port_counts') ? data.stream<PortCounts>('port_counts') : null,
          isUntouchable,
          onVerdict,
          signal,
        })
      : null;
    const ports = openPorts ?? everyPort(hostsOf(data, net), plannedTcpPorts(options));
    const places = new SessionPlaces({ ...options, knownOpen: fromScan, signal });
    await forEachItem(ctx, ports, { concurrency: () => places.limit }, (port) =>
      places.use(port.host, async (report) => {
        let sign: PortSign | null = null;
        try {
          sign = await grab(port, report);
        } finally {
          port.end?.(sign);
        }
      }),
    );
    await openPorts?.finish();
    tarpits.warn(ctx);
  },
});

/** Whether more time may reveal more about a port. */
function mayHaveMore(
  { shortage, identified, endless }: PortSession,
  host: string,
  slowHosts: SlowHosts,
): boolean {
  return (
    shortage !== null && shortage !== 'fragile' && !endless && (identified || slowHosts.retryUnknown(host))
  );
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

function unidentified({ host, port, protocol }: Endpoint, reason: UnidentifiedReason): Banner {
  return { ...emptyBanner({ host, port, protocol }), unidentified_reason: reason };
}

interface Probing {
  banners: Banner[];
  /** Null if the port could not be reached. */
  sign: PortSign | null;
}

function probingOf(endpoint: Endpoint, session: PortSession, intrusive: boolean): Probing {
  const { banners, shortage } = session;
  const [first, ...others] = banners;
  const sign = { ...signOf(banners), usual: usualService(endpoint, intrusive), short: shortage !== null };
  if (!first || shortage === null) return { banners, sign };
  return { banners: [{ ...first, unidentified_reason: shortage }, ...others], sign };
}

/** The sign of bytes that may not be all. */
function firstSign(endpoint: Endpoint, received: Buffer, intrusive: boolean): PortSign {
  const text = bannerText(received.subarray(0, comparedCharacters)).slice(0, comparedCharacters);
  const response = text.replaceAll(/\d/g, '0');
  return { response, service: serviceOf(received), usual: usualService(endpoint, intrusive), short: false };
}

/** Digits make no difference: dates and counters differ between responses. */
function signOf(banners: readonly Banner[]): Pick<PortSign, 'response' | 'service'> {
  const sign = banners.find(
    ({ banner, tls, tls_error }) => banner || tls || tls_error?.startsWith(tlsRejection),
  );
  if (!sign) return { response: '', service: null };
  const { banner, tls } = sign;
  const bytes = banner.slice(0, comparedCharacters) || (tls?.chain[0]?.slice(-comparedCharacters) ?? 'tls');
  return { response: bytes.replaceAll(/\d/g, '0'), service: observedService(sign) };
}

function usualService({ port }: Endpoint, intrusive: boolean): string | null {
  return probeForPort(port, intrusive)?.service ?? null;
}

/** Of a port that was probed before an interruption. */
function recordedSign({ port }: Endpoint, isIdentified: boolean): PortSign {
  return { response: isIdentified ? `recorded ${port}` : '', service: null, usual: null, short: false };
}

/** Every port of every host: tries each, and those that accept are open. */
async function* everyPort(
  hosts: AsyncIterable<string>,
  ports: readonly number[],
): AsyncGenerator<PlannedPort> {
  for await (const host of hosts) {
    for (const port of ports) if (!isUntouchable(port)) yield { host, port, protocol: 'tcp', skipped: null };
  }
}

async function* hostsOf(data: DataContext, net: NetworkGate): AsyncGenerator<string> {
  if (data.has('discovered_hosts')) {
    for await (const host of data.stream<Host>('discovered_hosts')) yield host.ip;
  } else {
    yield* shuffled(net.addresses.size, (index) => net.addresses.at(index));
  }
}

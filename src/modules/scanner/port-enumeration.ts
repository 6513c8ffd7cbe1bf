import type { Endpoint } from '../../domain/host.ts';
import { type Banner, bannerBytes, tlsRejection } from '../../domain/text/banner.ts';
import { wantsTls } from '../../knowledge/probes/first-bytes.ts';
import type { Probe } from '../../knowledge/probes/probe.ts';
import { furtherNames, probes } from '../../knowledge/probes/probes.ts';
import { sentRequests } from '../../knowledge/protocols/probe-session.ts';
import type { Connection, NetworkGate } from '../../net/gate/gate.ts';
import { ProbeSession } from './probe-session.ts';
import { enumerateTls } from './tls-enumeration.ts';

/** Maximum bytes read of one response to a ClientHello. */
const maxResponseBytes = 256 * 1024;

/** Maximum bytes of the plain session that leads to a handshake. */
const maxPlainBytes = 16 * 1024;

export interface PortEnumerationSettings {
  net: NetworkGate;
  signal: AbortSignal;
  /** Idle timeout; a connection lasts at most twice as long. */
  timeoutMs: number;
  /** Also test for vulnerabilities. */
  intrusive: boolean;
  /** The requested name of an address. */
  names: ReadonlyMap<string, string>;
}

/** Reasons that do not exclude a TLS server that only supports versions too old for this client. */
const undecided = /supports no TLS version|closed the connection during the handshake|the handshake failed/;

/**
 * Adds a TLS enumeration to the results of a port; a server that rejected the ordinary handshake gets its TLS facts
 * from it.
 */
export async function enumeratePort(
  endpoint: Endpoint,
  banners: readonly Banner[],
  settings: PortEnumerationSettings,
): Promise<Banner[]> {
  const at = banners.findIndex(isWorthASurvey);
  const banner = banners[at];
  if (!banner) return [...banners];
  const upgrade = upgradeOf(banner);
  const outcome = await enumerateTls({
    open: () => openFor(endpoint, upgrade, settings),
    serverName: upgrade ? null : (settings.names.get(endpoint.host) ?? null),
    timeoutMs: settings.timeoutMs,
    signal: settings.signal,
    leaf: banner.tls?.chain[0] ?? null,
    intrusive: settings.intrusive,
    // A greeting of several lines may be one of those that mail servers hold back to test their clients.
    oneAtATime: /^\d{3}-/.test(banner.banner),
  });
  if (!outcome) return [...banners];
  const { tls_error: _refused, ...others } = banner;
  const enumerated: Banner = {
    ...others,
    tls: { ...(banner.tls ?? outcome.observation), survey: outcome.survey },
  };
  return banners.with(at, enumerated);
}

function isWorthASurvey(banner: Banner): boolean {
  if (furtherNames.has(banner.probe)) return false;
  if (banner.tls) return true;
  const reason = banner.tls_error ?? '';
  if (reason.startsWith(tlsRejection)) return true;
  const silent = banner.banner === '' || wantsTls(bannerBytes(banner)) || upgradeOf(banner) !== null;
  return silent && undecided.test(reason);
}

/** The probe that upgraded a plain service to TLS; null if TLS started at once. */
export function upgradeOf(banner: Banner): Probe | null {
  const probe = probes.find(({ name }) => name === banner.probe);
  const { upgrade } = probe ?? {};
  if (!probe || !upgrade) return null;
  const agreed =
    upgrade.request === null ? banner.tls !== undefined : sentRequests(banner).includes(upgrade.request.send);
  return agreed ? probe : null;
}

/** Opens a connection ready for a ClientHello; null if that fails. */
export async function openFor(
  { host, port }: Endpoint,
  upgrade: Probe | null,
  { net, signal, timeoutMs, names }: PortEnumerationSettings,
): Promise<Connection | null> {
  const result = await net.connect(host, port, {
    deadlineMs: 2 * timeoutMs,
    connectMs: timeoutMs,
    maxBytes: maxResponseBytes,
    signal,
  });
  if ('failure' in result) return null;
  if (!upgrade) return result.connection;
  const session = new ProbeSession(result.connection, names.get(host) ?? host, {
    port,
    idleMs: timeoutMs,
    maxBytes: maxPlainBytes,
  });
  const connection = await session.untilTls(upgrade, timeoutMs);
  if (!connection) session.close();
  return connection;
}

import { randomBytes } from 'node:crypto';
import type { Endpoint } from '../../domain/host.ts';
import {
  type Banner,
  bannerBytes,
  type TlsObservation,
  tlsBrokenOff,
  tlsRejection,
} from '../../domain/text/banner.ts';
import { wantsTls } from '../../knowledge/probes/first-bytes.ts';
import { furtherNames } from '../../knowledge/probes/probes.ts';
import { clientHello } from '../../knowledge/tls/client-hello.ts';
import { curveIds, groupIdsOf13 } from '../../knowledge/tls/groups.ts';
import { ServerFlight } from '../../knowledge/tls/server-flight.ts';
import {
  type CipherSuite,
  flawsOf,
  hasForwardSecrecy,
  suiteName,
  suitesFor,
} from '../../knowledge/tls/suites.ts';
import { tlsVersions, versionCode } from '../../knowledge/tls/versions.ts';
import { openFor, type PortEnumerationSettings, upgradeOf } from './port-enumeration.ts';

/** Suites of the hello: old servers close the connection above 128. */
const suitesPerHello = 120;

/** Newest version of each hello: up to TLS 1.2 a server shows its certificate in clear text. */
const helloVersions = ['TLSv1.2', 'TLSv1.3'] as const;

/**
 * Adds to the results of a port what its server showed of a handshake that did not complete: version, suite,
 * certificates, and whether it requests one of the client. One or two connections, without encryption.
 */
export async function readBrokenHandshake(
  endpoint: Endpoint,
  banners: readonly Banner[],
  settings: PortEnumerationSettings,
): Promise<Banner[]> {
  const at = banners.findIndex(isBrokenOff);
  const banner = banners[at];
  if (!banner) return [...banners];
  const { tls_error: error = '', ...others } = banner;
  for (const version of helloVersions) {
    const flight = settings.signal.aborted ? null : await readFlight(endpoint, banner, version, settings);
    if (!flight?.hello) continue;
    return banners.with(at, { ...others, tls: { ...shownBy(flight, error), error } });
  }
  return [...banners];
}

/** The server began a handshake, or rejected it. */
function isBrokenOff(banner: Banner): boolean {
  const reason = banner.tls_error;
  if (reason === undefined || furtherNames.has(banner.probe)) return false;
  // A server that was sent something else first responded with an alert in clear text, or in words.
  const silent = banner.banner === '' || wantsTls(bannerBytes(banner));
  if (!silent && upgradeOf(banner) === null) return false;
  return isOfServer(reason) || /supports no TLS version|the handshake failed/.test(reason);
}

/** The server, not this client, ended the handshake. */
function isOfServer(reason: string): boolean {
  return reason.startsWith(tlsRejection) || reason.endsWith(tlsBrokenOff);
}

async function readFlight(
  endpoint: Endpoint,
  banner: Banner,
  version: (typeof helloVersions)[number],
  settings: PortEnumerationSettings,
): Promise<ServerFlight | null> {
  const upgrade = upgradeOf(banner);
  const connection = await openFor(endpoint, upgrade, settings);
  if (!connection) return null;
  const flight = new ServerFlight();
  try {
    const hello = clientHello({
      version,
      suites: suitesFor(version)
        .slice(0, suitesPerHello)
        .sort((a, b) => weaknessOf(a) - weaknessOf(b))
        .map(({ id }) => id),
      groups: version === 'TLSv1.3' ? groupIdsOf13 : curveIds,
      keyShare: true,
      serverName: upgrade ? null : (settings.names.get(endpoint.host) ?? null),
      alpn: [],
      compression: false,
      extensions: true,
      random: randomBytes(64),
    });
    if (await connection.write(hello))
      await connection.read({ idleMs: settings.timeoutMs, done: (bytes) => flight.read(bytes) });
    return flight;
  } finally {
    connection.close();
  }
}

/** A server without an order of its own picks the suite that it picks for an ordinary client. */
function weaknessOf(suite: CipherSuite): number {
  const flaws = flawsOf(suite);
  const broken = flaws.some((flaw) => flaw !== 'cbc');
  return (broken ? 4 : 0) + (hasForwardSecrecy(suite) ? 0 : 2) + (flaws.includes('cbc') ? 1 : 0);
}

function shownBy({ hello, certificates, requestsCertificate }: ServerFlight, error: string): TlsObservation {
  const version = tlsVersions.find((each) => versionCode(each) === hello?.version);
  return {
    version: version ?? 'unknown',
    cipher: hello ? suiteName(hello.suite) : 'unknown',
    alpn: null,
    chain: (certificates ?? []).map((der) => der.toString('base64')),
    ...(requestsCertificate ? { client_certificate: isOfServer(error) ? 'required' : 'requested' } : {}),
  };
}

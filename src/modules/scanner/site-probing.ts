import type { Endpoint } from '../../domain/host.ts';
import { type Banner, type SiteBanner, tlsRejection } from '../../domain/text/banner.ts';
import type { ExecContext } from '../../engine/module.ts';
import { serviceOf } from '../../knowledge/probes/first-bytes.ts';
import { furtherNames, probeNamed } from '../../knowledge/probes/probes.ts';
import { isSecure, serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { peerClosed } from '../../net/tls/tls.ts';
import { readBrokenHandshake } from './broken-handshake.ts';
import { probeFurther } from './further-probes.ts';
import { PortConnections, type PortSessionSettings } from './port-connections.ts';
import { ProbeSession } from './probe-session.ts';

/** Names in a warning; more are counted. */
const maxNamedSites = 20;

/** Names of addresses beside the first ones, which are sites of their own. */
export class SiteNames {
  readonly #names = new Map<string, string[]>();
  readonly #leftOut: string[] = [];

  /** @param names of each address @param most sites of one address */
  constructor(names: ReadonlyMap<string, readonly string[]>, most: number) {
    for (const [host, [, ...others]] of names) {
      this.#names.set(host, others.slice(0, most));
      for (const name of others.slice(most)) this.#leftOut.push(`${name} (${host})`);
    }
  }

  of(host: string): readonly string[] {
    return this.#names.get(host) ?? [];
  }

  warn(ctx: Pick<ExecContext, 'warn'>): void {
    const count = this.#leftOut.length;
    if (count === 0) return;
    const named = this.#leftOut.slice(0, maxNamedSites).join(', ');
    const more = count > maxNamedSites ? ` and ${count - maxNamedSites} more` : '';
    ctx.warn(
      'names_left_out',
      `the option max_sites of banner_grabber left out ${count} host names that share an address with others: ${named}${more}`,
    );
  }
}

/** How a port serves sites. */
interface SiteService {
  secure: boolean;
  http: boolean;
  /** It speaks only HTTP/2. */
  http2: boolean;
}

/** For a port that gave its first name nothing: others may be served, with TLS or without. */
const guesses: readonly SiteService[] = [
  { secure: true, http: true, http2: false },
  { secure: false, http: true, http2: false },
];

/**
 * Requests the further names of an address from a port with a web server or TLS: each has a page and a certificate of its
 * own. One connection each, and those that follow from its response.
 */
export async function probeSites(
  endpoint: Endpoint,
  banners: readonly Banner[],
  names: readonly string[],
  settings: PortSessionSettings,
): Promise<Banner[]> {
  const served = banners.map(servedBy);
  const at = served.findIndex((services) => services.length > 0);
  const banner = banners[at];
  if (names.length === 0 || !banner) return [...banners];
  let services = served[at] as readonly SiteService[];
  const sites: SiteBanner[] = [];
  for (const name of names) {
    let responses: Banner[] = [];
    for (const service of services) {
      if (settings.signal.aborted) break;
      responses = await probeSite(endpoint, service, name, settings);
      if (!responses.some((response) => response.banner !== '' || response.tls)) continue;
      services = [service];
      break;
    }
    sites.push(...responses.map((response) => ({ ...response, name })));
  }
  return banners.with(at, { ...banner, sites });
}

/** How a port that gave this response may serve sites; none where names make no difference. */
function servedBy(banner: Banner): readonly SiteService[] {
  if (furtherNames.has(banner.probe)) return [];
  const reason = banner.banner === '' && !banner.tls ? (banner.tls_error ?? '') : '';
  // The first name may be one that the server does not know.
  if (reason.startsWith(tlsRejection)) return guesses.slice(0, 1);
  if (reason.startsWith(peerClosed)) return guesses;
  const http = serviceOf(serverBytes(banner)) === 'http';
  const secure = isSecure(banner);
  if (!http && !secure) return [];
  return [{ secure, http: http || banner.tls?.error !== undefined, http2: banner.probe === 'http2' }];
}

async function probeSite(
  endpoint: Endpoint,
  { secure, http, http2 }: SiteService,
  name: string,
  settings: PortSessionSettings,
): Promise<Banner[]> {
  const named = { ...settings, names: new Map([[endpoint.host, name]]) };
  const connections = new PortConnections(endpoint, named);
  const releaseClock = loopClock.use();
  try {
    const session = await connections.dial();
    if (session instanceof ProbeSession) {
      const alpn = http ? [http2 ? 'h2' : 'http/1.1'] : [];
      const ready = !secure || (await session.secure(alpn, settings.timeoutMs, name));
      if (ready && http2) await session.askHttp2();
      else if (ready && http) await session.ask(probeNamed('http'), settings.timeoutMs, false);
      connections.tlsError = session.tlsError;
      connections.end(session);
      if (http) await probeFurther(connections);
    }
    return await readBrokenHandshake(endpoint, connections.banners(), named);
  } finally {
    connections.closeAll();
    releaseClock();
  }
}

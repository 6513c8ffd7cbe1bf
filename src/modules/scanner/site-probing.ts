import type { Endpoint } from '../../domain/host.ts';
import { type Banner, type SiteBanner, tlsRejection } from '../../domain/text/banner.ts';
import type { ExecContext } from '../../engine/module.ts';
import { serviceOf } from '../../knowledge/probes/first-bytes.ts';
import { furtherNames, probeNamed } from '../../knowledge/probes/probes.ts';
import { isSecure, serverBytes } from '../../knowledge/protocols/probe-session.ts';
import { loopClock } from '../../net/loop-clock.ts';
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
  const services = banners.map(siteService);
  const at = services.findIndex((each) => each !== null);
  const [banner, service] = [banners[at], services[at]];
  if (names.length === 0 || !banner || !service) return [...banners];
  const sites: SiteBanner[] = [];
  for (const name of names) {
    if (settings.signal.aborted) break;
    for (const response of await probeSite(endpoint, service, name, settings))
      sites.push({ ...response, name });
  }
  return banners.with(at, { ...banner, sites });
}

/** Null for a response that is none of a site; names make no difference to other services. */
function siteService(banner: Banner): SiteService | null {
  if (furtherNames.has(banner.probe)) return null;
  const http = serviceOf(serverBytes(banner)) === 'http';
  const http2 = banner.probe === 'http2';
  // The first name may be one that the server does not know.
  const rejected = banner.banner === '' && (banner.tls_error?.startsWith(tlsRejection) ?? false);
  const secure = isSecure(banner) || rejected;
  return http || secure ? { secure, http: http || rejected || banner.tls?.error !== undefined, http2 } : null;
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

import type { Socket } from 'node:net';
import { isLoopbackHost, parseEndpoint } from '../../../config/endpoint.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import { canonicalAddress } from '../../../domain/targets/address.ts';
import type { RequestHead } from '../../access/auth.ts';

/**
 * Host names under which browsers may reach the server. A foreign page can point its own name at this machine (DNS
 * rebinding), which makes it same-origin for the browser; only the Host header reveals that.
 */
export class AllowedHosts {
  readonly #configured: ReadonlySet<string>;
  readonly #bound: string;
  /** Of `server.public_url`; null without. */
  readonly #public: URL | null;
  /** The last accepted header of each connection, since clients repeat it. */
  readonly #accepted = new WeakMap<Socket, string>();

  constructor({
    bind,
    allowed_hosts,
    public_url,
  }: Pick<Config['server'], 'bind' | 'allowed_hosts' | 'public_url'>) {
    this.#configured = new Set(allowed_hosts.map(plainHost));
    this.#bound = plainHost(parseEndpoint(bind)?.host ?? '');
    this.#public = public_url === null ? null : URL.parse(public_url);
  }

  /** Checks a page for browsers: only the configured names. @throws PortolanError `forbidden_origin` */
  checkPage(request: RequestHead): void {
    const host = hostOf(request);
    if (this.#isPublic(host)) return;
    if (this.#configured.size > 0 ? this.#configured.has(host) : this.#isOwn(host, request)) return;
    throw forbiddenHost();
  }

  /**
   * Checks the API without tokens: the names of this machine and the configured ones. Browsers always send the header;
   * an HTTP/1.0 client without it is not a browser.
   *
   * @throws PortolanError `forbidden_origin`
   */
  checkApi(request: RequestHead): void {
    const { host: header } = request.headers;
    if (header === undefined || this.#accepted.get(request.socket) === header) return;
    const host = hostOf(request);
    if (!this.#configured.has(host) && !this.#isPublic(host) && !this.#isOwn(host, request))
      throw forbiddenHost();
    this.#accepted.set(request.socket, header);
  }

  /** Whether the page that sent the request is from this server, with any scheme. */
  isOwnOrigin(origin: string, { headers }: RequestHead): boolean {
    const url = URL.parse(origin);
    if (url === null) return false;
    return url.host === headers.host?.toLowerCase() || url.origin === this.#public?.origin;
  }

  #isPublic(host: string): boolean {
    return this.#public !== null && host === plainHost(this.#public.hostname);
  }

  /** For a listener on all addresses, the local address of the connection counts. */
  #isOwn(host: string, { socket }: RequestHead): boolean {
    if (isLoopbackHost(host)) return true;
    return host !== '' && (host === this.#bound || host === plainHost(socket.localAddress ?? ''));
  }
}

function hostOf({ headers }: RequestHead): string {
  return plainHost((headers.host ?? '').replace(/:\d{0,5}$/, ''));
}

/** In lower case, without brackets and the dot of the root; addresses in canonical form. */
function plainHost(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return canonicalAddress(name) ?? name;
}

function forbiddenHost(): PortolanError {
  return new PortolanError(
    'forbidden_origin',
    'The Host header does not name this server; add its name to server.allowed_hosts.',
  );
}

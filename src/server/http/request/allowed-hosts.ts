import type { Socket } from 'node:net';
import { isLoopbackHost, parseEndpoint } from '../../../config/endpoint.ts';
import type { Config } from '../../../config/schema.ts';
import { canonicalAddress } from '../../../domain/address.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { RequestHead } from '../../access/auth.ts';

/**
 * The names under which a browser may speak to the server. A page elsewhere can point its own name at this machine
 * (DNS rebinding) and is then of the same origin as the server in the eyes of the browser; only the name in the Host
 * header tells.
 */
export class AllowedHosts {
  readonly #configured: ReadonlySet<string>;
  readonly #bound: string;
  /** Of `server.public_url`; null without. */
  readonly #public: URL | null;
  /** The last good header of each connection: clients repeat it. */
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

  /** A page for browsers: only under the configured names. @throws PortolanError `forbidden_origin` */
  checkPage(request: RequestHead): void {
    const host = hostOf(request);
    if (this.#isPublic(host)) return;
    if (this.#configured.size > 0 ? this.#configured.has(host) : this.#isOwn(host, request)) return;
    throw forbiddenHost();
  }

  /**
   * The API without tokens: this machine's own names, and the configured ones. Browsers always send the header; a
   * client of HTTP/1.0 without one is none.
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

  /** True when the page that sent the request came from this server itself, by whatever scheme. */
  isOwnOrigin(origin: string, { headers }: RequestHead): boolean {
    const url = URL.parse(origin);
    if (url === null) return false;
    return url.host === headers.host?.toLowerCase() || url.origin === this.#public?.origin;
  }

  #isPublic(host: string): boolean {
    return this.#public !== null && host === plainHost(this.#public.hostname);
  }

  /** The address that the client reached stands for a listener on all addresses. */
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
    'The Host name of the request is not one of this server; server.allowed_hosts lists those that are served.',
  );
}

import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requiresTokens } from '../../../config/required-tokens.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { TokenRecord } from '../../../store/tokens.ts';
import type { Admission } from '../../access/admission.ts';
import { checkClientAddress, isProtected, type RouteAccess } from '../../access/auth.ts';
import type { ServerContext } from '../../context.ts';
import { type KnownPaths, pathOf, routeOf } from '../routes.ts';
import { AllowedHosts } from './allowed-hosts.ts';
import { ClientAddresses } from './client-address.ts';
import { Cors } from './cors.ts';

/** Maximum length of a URL, bytes. */
export const maxUrlLength = 8192;
/** Maximum number of header fields of a request. */
const maxHeaderFields = 100;
/** Methods without side effects. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A fastify hook. For a preflight it sends the response and does not call `done`. */
export type RequestCheck = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (refusal?: Error) => void,
) => void;

/** Settings used by the checks that only a restart changes. */
interface Rules {
  tokensDemanded: boolean;
  protectedMode: boolean;
  clients: ClientAddresses;
  hosts: AllowedHosts;
  cors: Cors;
}

/** All checks before the body is read, in the order of the contract. */
export function requestCheck(context: ServerContext, paths: KnownPaths): RequestCheck {
  const { admission } = context;
  const rules = rulesOf(context.config);

  /** @returns a promise when the request has to wait for a slot @throws PortolanError */
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    access: Exclude<RouteAccess, 'open'>,
    token: TokenRecord | null,
  ) => {
    const {
      wholeService = false,
      unmetered = false,
      streams = false,
      eventStream = false,
      feature,
    } = routeOf(request).config ?? {};
    if (token && streams) request.tokenHolds = () => admission.holds(request.raw);
    const entry = { head: request.raw, client: request.clientAddress, token };
    const setHeaders = (headers: Record<string, string>) => void reply.headers(headers);
    const choice = admission.meter(entry, { wholeService, unmetered }, setHeaders);
    if (request.is404) refuseUnknown(paths, request, reply);
    // Also for a rejected request: its audit record names the tenant.
    if ('space' in choice) request.space = choice.space;
    admission.enter(choice, token, access, feature);
    checkPhase(context, request);
    if (eventStream && request.method !== 'HEAD') whenClosed(reply, admission.openStream(entry, setHeaders));
    if (streams || unmetered) return null;
    return admission.takeSlot(entry, (work) => whenClosed(reply, work), setHeaders);
  };

  const admitWithToken = async (
    request: FastifyRequest,
    reply: FastifyReply,
    access: Exclude<RouteAccess, 'open'>,
  ) => {
    await admit(request, reply, access, await authenticated(admission, request, reply));
  };

  /** @returns a promise only when a token has to be looked up; false when the response was sent */
  const check = (request: FastifyRequest, reply: FastifyReply): Promise<void> | boolean => {
    request.unknownFields = [];
    request.clientAddress = rules.clients.of(request.raw);
    setHeaders(request, reply);
    rules.cors.mark(request.raw, reply);
    if (context.phase === 'draining') reply.header('connection', 'close');

    checkClient(rules, request);
    checkSize(request);
    if (rules.cors.isPreflight(request.raw)) {
      rules.cors.answerPreflight(request.raw, reply);
      return false;
    }
    const access = accessOf(request, paths);
    checkBrowser(rules, request, access);
    const { alwaysAuthenticated = false, feature } = routeOf(request).config ?? {};
    if (access === 'open') {
      if (request.is404) refuseUnknown(paths, request, reply);
      if (feature) context.license.demand(feature);
      checkPhase(context, request);
      return true;
    }
    if (rules.tokensDemanded || alwaysAuthenticated) return admitWithToken(request, reply, access);
    return admit(request, reply, access, null) ?? true;
  };

  return (request, reply, done) => {
    let outcome: Promise<void> | boolean;
    try {
      outcome = check(request, reply);
    } catch (refusal) {
      return done(refusal as Error);
    }
    if (outcome === true) done();
    else if (outcome !== false) void settle(outcome, done);
  };
}

function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.destroyed) work();
  else raw.once('close', work);
}

async function settle(work: Promise<void>, done: (refusal?: Error) => void): Promise<void> {
  try {
    await work;
  } catch (refusal) {
    return done(refusal as Error);
  }
  done();
}

function rulesOf(config: Config): Rules {
  const { server } = config;
  return {
    tokensDemanded: requiresTokens(config),
    protectedMode: isProtected(config),
    clients: new ClientAddresses(server.trusted_proxies),
    hosts: new AllowedHosts(server),
    cors: new Cors(server.cors),
  };
}

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('cache-control', 'no-store');
}

/** In protected mode both the connection and the client behind a trusted proxy must be local. */
function checkClient({ protectedMode }: Rules, request: FastifyRequest): void {
  if (!protectedMode) return;
  checkClientAddress(request.socket.remoteAddress);
  checkClientAddress(request.clientAddress);
}

function checkSize(request: FastifyRequest): void {
  const { url = '', rawHeaders, httpVersion } = request.raw;
  if (url.length > maxUrlLength) {
    throw new PortolanError('uri_too_long', `The URL exceeds ${maxUrlLength} bytes.`);
  }
  if (rawHeaders.length > 2 * maxHeaderFields) {
    throw new PortolanError(
      'headers_too_large',
      `The request has more than ${maxHeaderFields} header fields.`,
    );
  }
  const hosts = hostCount(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    const reason = hosts > 1 ? 'must be sent once' : 'is missing';
    throw new PortolanError('invalid_request', `The Host header ${reason}.`, {
      fields: [{ field: 'Host', reason }],
    });
  }
}

/** With two Host headers, a proxy may have used the other one (RFC 9112, 3.2). */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/**
 * The request target without scheme and host. A host in the target takes precedence over the Host header (RFC 9112,
 * 3.2.2).
 */
export function originForm(request: IncomingMessage): string {
  const { url = '' } = request;
  if (url.startsWith('/')) return url;
  const [, host, target = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (host === undefined) return url;
  request.headers.host = host;
  return target.startsWith('/') ? target : `/${target}`;
}

/** Required access of the request. */
export function accessOf(request: FastifyRequest, paths: KnownPaths): RouteAccess {
  if (request.is404) return paths.isOpen(pathOf(request)) ? 'open' : 'any';
  return routeOf(request).config?.access ?? 'any';
}

/**
 * Without tokens, any page in a browser of this network could control the server: through DNS rebinding, or with
 * requests whose responses it cannot read (CSRF).
 */
function checkBrowser(
  { tokensDemanded, hosts, cors }: Rules,
  request: FastifyRequest,
  access: RouteAccess,
): void {
  const { page, ownHostOnly } = routeOf(request).config ?? {};
  if (page) hosts.checkPage(request.raw);
  if (tokensDemanded || (access === 'open' && !ownHostOnly)) return;
  hosts.checkApi(request.raw);
  const { origin } = request.headers;
  if (origin === undefined || safeMethods.has(request.method)) return;
  if (hosts.isOwnOrigin(origin, request.raw) || cors.lists(origin)) return;
  throw new PortolanError(
    'forbidden_origin',
    'Cross-origin request rejected; add the origin to server.cors.origins to allow it.',
  );
}

async function authenticated(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<TokenRecord> {
  const setHeaders = (headers: Record<string, string>) => void reply.headers(headers);
  const record = await admission.authenticate(request.raw, request.clientAddress, setHeaders);
  request.tokenId = record.id;
  request.token = record;
  return record;
}

/** Not in the handler of unknown paths, which runs after the body is read. @throws PortolanError */
function refuseUnknown(paths: KnownPaths, request: FastifyRequest, reply: FastifyReply): never {
  const methods = paths.methodsOf(pathOf(request));
  // A path that cannot be decoded may match a pattern but has no route.
  if (methods.length === 0 || methods.includes(request.method)) throw noSuchPath(paths, pathOf(request));
  const allowed = methods.join(', ');
  reply.header('allow', allowed);
  const text = `${request.method} is not allowed for this path; allowed: ${allowed}.`;
  throw new PortolanError('method_not_allowed', text);
}

/** The hint is for people who open the server in a browser. */
function noSuchPath(paths: KnownPaths, path: string): PortolanError {
  const hasPage = path === '/' && paths.methodsOf('/api/v1/docs').length > 0;
  const hint = hasPage ? ' The API documentation is at /api/v1/docs.' : '';
  return new PortolanError('not_found', `Path not found.${hint}`);
}

/** @throws PortolanError `unavailable` for new work while the server shuts down */
function checkPhase({ phase }: ServerContext, { method }: FastifyRequest): void {
  if (phase !== 'draining' || safeMethods.has(method)) return;
  throw new PortolanError('unavailable', 'The server is shutting down.');
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { canonicalAddress } from '../../domain/address.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import {
  Authenticator,
  checkClientAddress,
  checkScopes,
  demandsTokens,
  isProtected,
  maxFailedAttempts,
  type RouteAccess,
} from '../auth.ts';
import type { ServerContext } from '../context.ts';
import { RateLimiter, rateHeaders } from '../rate-limit.ts';
import type { App } from './app-type.ts';
import { errorShape, sendError } from './errors.ts';
import { eventRoutes } from './events.ts';
import { healthRoutes, livenessRoutes } from './health.ts';
import { maxBodyBytes, parseJsonBody } from './json-body.ts';
import { moduleRoutes } from './modules.ts';
import { openapiOptions, openapiRoutes } from './openapi.ts';
import { profileRoutes } from './profiles.ts';
import { completeRoute, KnownPaths, requireAccess } from './routes.ts';
import { scanRoutes } from './scans.ts';
import { compileValidator, unknownFields } from './validation.ts';
import { versionRoutes } from './version.ts';
import { workspaceRoutes } from './workspace.ts';

const maxUrlLength = 8192;
const maxHeaderBytes = 16 * 1024;
const maxHeaderFields = 100;
/** A client that sent nonsense may read the answer for so long. */
const lingerMs = 500;
const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The HTTP side of the server: routes, checks in the order of the contract, one envelope and one error shape. */
export async function buildApp(context: ServerContext): Promise<App> {
  const app = Fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: maxBodyBytes,
    genReqId: requestId,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    keepAliveTimeout: 75_000,
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: maxHeaderBytes },
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 30_000,
      connectionsCheckingInterval: 1000,
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      answerBadUrl(check, error, request as FastifyRequest, reply as FastifyReply);
    },
  }) as unknown as App;
  const paths = new KnownPaths();
  const check = requestCheck(context, paths);
  app.addHook('onRoute', (route) => {
    requireAccess(route);
    completeRoute(route);
    paths.add(route);
  });

  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler((request, reply) => answerUnknown(paths, request, reply));
  acceptJsonOnly(app);
  app.decorateRequest('tokenId', null);
  app.decorateRequest('unknownFields', null as never);
  app.addHook('onRequest', check);
  app.addHook('preValidation', async (request) => {
    const { body } = request.routeOptions.schema ?? {};
    if (body !== undefined) request.unknownFields = unknownFields(request.body, body);
  });
  app.addHook('onResponse', async (request, reply) => logAnswer(request, reply));

  await app.register(swagger, openapiOptions(context));
  livenessRoutes(app, context);
  if (context.config.server.api.enabled) addApiRoutes(app, context);
  await app.ready();
  return app;
}

function addApiRoutes(app: App, context: ServerContext): void {
  healthRoutes(app, context);
  versionRoutes(app, context);
  openapiRoutes(app);
  scanRoutes(app, context);
  eventRoutes(app, context);
  workspaceRoutes(app, context);
  moduleRoutes(app, context);
  profileRoutes(app, context);
}

/** Client address, size, token, rate, scope, drain: everything that is decided before a body is read. */
function requestCheck(context: ServerContext, paths: KnownPaths) {
  const { config, store, log } = context;
  const authenticator = new Authenticator(store, (err) =>
    log.warn({ err }, 'last use of a token was not stored'),
  );
  const demanded = demandsTokens(config);
  const requests = new RateLimiter('default', config.server.api.rate_limit ?? 0);
  const failures = new RateLimiter('failed-authentication', maxFailedAttempts);
  const guarded = isProtected(config);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.unknownFields = [];
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    if (guarded) checkClientAddress(request.socket.remoteAddress);
    checkSize(request);
    const access = accessOf(request, paths);
    if (access !== 'open') {
      const record = demanded ? await authenticated(authenticator, failures, request, reply) : null;
      if (requests.limit > 0) charge(requests, record?.id ?? clientAddress(request), reply);
      if (record && access !== 'any') checkScopes(record, access);
    }
    if (context.phase === 'draining' && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new PortolanError('unavailable', 'The server is shutting down.');
    }
  };
}

function accessOf(request: FastifyRequest, paths: KnownPaths): RouteAccess {
  if (request.is404) return paths.isOpen(pathOf(request)) ? 'open' : 'any';
  return request.routeOptions.config?.access ?? 'any';
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '';
}

/** A good token always passes: wrong ones from the same address, perhaps that of a proxy, must not shut it out. */
async function authenticated(
  authenticator: Authenticator,
  failures: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<TokenRecord> {
  try {
    const record = await authenticator.authenticate(request.raw);
    request.tokenId = record.id;
    return record;
  } catch (error) {
    // Without credentials nothing was attempted.
    const cost = request.headers.authorization === undefined ? 0 : 1;
    if (isRefusal(error)) charge(failures, clientAddress(request), reply, cost);
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'unauthorized';
}

/** Every answer carries the state of the bucket. @throws PortolanError `rate_limited` */
function charge(limiter: RateLimiter, client: string, reply: FastifyReply, cost: 0 | 1 = 1): void {
  const state = limiter.take(client, cost);
  const headers = rateHeaders(limiter, state);
  reply.headers(headers);
  if (state.allowed) return;
  throw new PortolanError(
    'rate_limited',
    `Too many requests: ${limiter.limit} a minute are allowed (${limiter.policy}); retry in ${headers['retry-after']} s.`,
  );
}

/** Of the connection: what a header claims is not believed. */
function clientAddress(request: FastifyRequest): string {
  const address = request.socket.remoteAddress ?? '';
  return canonicalAddress(address) ?? address;
}

function checkSize(request: FastifyRequest): void {
  if ((request.raw.url?.length ?? 0) > maxUrlLength) {
    throw new PortolanError('uri_too_long', `The URL is above ${maxUrlLength} bytes.`);
  }
  if (request.raw.rawHeaders.length > 2 * maxHeaderFields) {
    throw new PortolanError(
      'headers_too_large',
      `The request has more than ${maxHeaderFields} header fields.`,
    );
  }
}

function acceptJsonOnly(app: App): void {
  const parse = async (_request: FastifyRequest, body: string | Buffer) => parseJsonBody(body as Buffer);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse);
  // The catch-all also takes bodies without a type, which count as JSON.
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: string | Buffer) => {
      if (request.headers['content-type'] === undefined) return parseJsonBody(body as Buffer);
      throw new PortolanError('unsupported_media_type', 'The request body must be application/json.');
    },
  );
}

function answerUnknown(paths: KnownPaths, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = paths.methodsOf(pathOf(request));
  if (methods.length === 0)
    return sendError(new PortolanError('not_found', 'There is no such path.'), request, reply);
  const allowed = methods.join(', ');
  reply.header('allow', allowed);
  const text = `${request.method} is not allowed here; allowed: ${allowed}.`;
  return sendError(new PortolanError('method_not_allowed', text), request, reply);
}

/** Paths that cannot be decoded never reach the hooks, so the checks run here. */
function answerBadUrl(
  check: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  check(request, reply).then(
    () => sendError(error, request, reply),
    (refusal) => sendError(refusal, request, reply),
  );
}

/** Sockets whose broken request was answered; what still comes in on them is dropped. */
const answered = new WeakSet<Socket>();

/** node:http gives the bytes as a Buffer; fastify's type for them is their JSON form. */
type BrokenRequest = Error & { code?: string; rawPacket?: unknown };

/** What node:http could not even parse: headers too long or too late, or no HTTP at all. */
function answerBrokenRequest(error: BrokenRequest, socket: Socket): void {
  if (answered.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  answered.add(socket);
  // A socket that is closed with bytes unread resets the connection, and the client loses the answer.
  setTimeout(() => socket.destroy(), lingerMs).unref();
  const refusal = refusalOf(error);
  const id = requestId();
  const body = JSON.stringify(errorShape(refusal, { request_id: id }));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${refusal.code}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function refusalOf(error: BrokenRequest): PortolanError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const urlOnly = Buffer.isBuffer(error.rawPacket) && !error.rawPacket.includes('\n');
    return urlOnly
      ? new PortolanError('uri_too_long', `The URL is above ${maxUrlLength} bytes.`)
      : new PortolanError('headers_too_large', `The headers are above ${maxHeaderBytes} bytes.`);
  }
  const text =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The request came too slowly.'
      : 'This is not a valid HTTP request.';
  return new PortolanError('invalid_request', text);
}

function requestId(request?: IncomingMessage): string {
  const given = request?.headers['x-request-id'];
  if (typeof given === 'string' && requestIdForm.test(given)) return given;
  return `req_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
}

/** The path without its query: a query may hold what somebody took for a place for secrets. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const level = request.method === 'GET' || request.method === 'HEAD' ? 'debug' : 'info';
  request.log[level](
    {
      method: request.method,
      path: pathOf(request).slice(0, 200),
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      token: request.tokenId,
    },
    'request',
  );
}

import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { PortolanError } from '../../domain/errors.ts';
import { pathWithoutTokens } from '../../domain/text/secret-text.ts';
import { requestId } from '../access/request-id.ts';
import type { RouteContext, ServerContext } from '../context.ts';
import type { Installed } from '../installed.ts';
import type { TlsMaterial } from '../tls.ts';
import type { App } from './app-type.ts';
import { AuditedResponses } from './audit-responses.ts';
import { errorShape, sendError } from './errors.ts';
import { maxBodyBytes, parseJsonBody } from './request/json-body.ts';
import { maxUrlLength, originForm, type RequestCheck, requestCheck } from './request/request-checks.ts';
import { compileValidator, unknownFields } from './request/validation.ts';
import { alertRoutes } from './resources/alerts.ts';
import { auditRoutes } from './resources/audit.ts';
import { configRoutes } from './resources/config.ts';
import { coverageRoutes } from './resources/coverage.ts';
import { dagRoutes } from './resources/dags.ts';
import { dashboardRoutes } from './resources/dashboard.ts';
import { diffRoutes } from './resources/diff.ts';
import { docsPageRoutes } from './resources/docs-page.ts';
import { eventRoutes } from './resources/events.ts';
import { explainRoutes } from './resources/explain.ts';
import { facetRoutes } from './resources/facets.ts';
import { fixRoutes } from './resources/fixes.ts';
import { healthRoutes, livenessRoutes } from './resources/health.ts';
import { jobRoutes } from './resources/jobs.ts';
import { licenseRoutes } from './resources/license.ts';
import { measureResponses, metricsRoutes } from './resources/metrics.ts';
import { moduleRoutes } from './resources/modules.ts';
import { notificationRoutes } from './resources/notifications.ts';
import { planRoutes } from './resources/plan.ts';
import { pluginChangeRoutes } from './resources/plugin-changes.ts';
import { pluginRoutes } from './resources/plugins.ts';
import { profileRoutes } from './resources/profiles.ts';
import { recordRoutes } from './resources/records.ts';
import { scanRequestRoutes } from './resources/scan-request.ts';
import { scanRoutes } from './resources/scans.ts';
import { scheduleRoutes } from './resources/schedules.ts';
import { serviceEventRoutes } from './resources/service-events.ts';
import { sessionRoutes } from './resources/session.ts';
import { tokenRoutes } from './resources/tokens.ts';
import { uiRoutes } from './resources/ui.ts';
import { versionRoutes } from './resources/version.ts';
import { vulndbRoutes } from './resources/vulndb.ts';
import { workerRoutes } from './resources/workers.ts';
import { workspaceRoutes } from './resources/workspace.ts';
import { ResponseDeadline } from './response-deadline.ts';
import { completeRoute, handlerTimeoutMs, KnownPaths, pathOf, requireAccess, routeOf } from './routes.ts';
import { openapiOptions, openapiRoutes } from './schema/openapi.ts';
import { compileSerializer } from './schema/serialization.ts';

/** Maximum size of all headers of a request, bytes. */
const maxHeaderBytes = 16 * 1024;
/** How long a client with a malformed request may read the response, milliseconds. */
const lingerMs = 500;

/**
 * The HTTP side of the server: routes, checks in the order of the contract, one envelope and one error shape.
 * @param tls serves HTTPS with it
 */
export async function buildApp(context: ServerContext, tls: TlsMaterial | null = null): Promise<App> {
  const app = Fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs more than most requests; log calls name the request instead.
    childLoggerFactory: (logger) => logger,
    bodyLimit: maxBodyBytes,
    genReqId: requestId,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    keepAliveTimeout: 75_000,
    requestTimeout: 60_000,
    // Closes idle connections: clients that read their response too slowly, or not at all.
    connectionTimeout: 120_000,
    rewriteUrl: originForm,
    routerOptions: { maxParamLength: maxHeaderBytes },
    ...listenerOptions(tls),
    clientErrorHandler: (error, socket) => {
      const response = rejectBrokenRequest(error, socket);
      if (response) audited.recordBroken(error, socket, response);
    },
    frameworkErrors: (error, request, reply) => {
      audited.follow(request as FastifyRequest, reply as FastifyReply);
      rejectBadUrl(check, error, request as FastifyRequest, reply as FastifyReply);
    },
  }) as unknown as App;
  // Ignores unknown expectations, as RFC 9110, 10.1.1 permits.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const paths = new KnownPaths();
  const check = requestCheck(context, paths);
  const audited = new AuditedResponses(context, paths);
  app.addHook('onRoute', (route) => {
    requireAccess(route);
    completeRoute(route);
    paths.add(route);
  });

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  acceptJsonOnly(app);
  app.decorateRequest('tokenId', null);
  app.decorateRequest('route', null);
  app.decorateRequest('token', null);
  app.decorateRequest('tokenHolds', null);
  app.decorateRequest('space', null as never);
  app.decorateRequest('clientAddress', '');
  app.decorateRequest('unknownFields', null as never);
  app.decorateRequest('change', null);
  audited.addHooks(app);
  new ResponseDeadline(handlerTimeoutMs).addHooks(app);
  app.addHook('onRequest', check);
  app.addHook('preValidation', (request, _reply, done) => {
    const { body, querystring } = routeOf(request).schema ?? {};
    if (body !== undefined) request.unknownFields = unknownFields(request.body, body);
    if (querystring !== undefined) {
      request.unknownFields.push(...unknownFields(request.query, querystring, 'parameter'));
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(context, request, reply);
    done();
  });
  measureResponses(app, context);

  await app.register(swagger, openapiOptions(context));
  livenessRoutes(app, context);
  metricsRoutes(app, context);
  await uiRoutes(app, context);
  if (context.config.server.api.enabled) addApiRoutes(app, context, context.installed);
  await app.ready();
  return app;
}

function listenerOptions(tls: TlsMaterial | null) {
  const options = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 30_000,
    connectionsCheckingInterval: 1000,
    // Requests without a Host are rejected here, in the error format of the API.
    requireHostHeader: false,
  };
  if (!tls) return { http: options };
  const { cert, key, minVersion } = tls;
  return {
    https: {
      ...options,
      cert,
      key,
      minVersion,
      handshakeTimeout: 30_000,
    },
  };
}

function addApiRoutes(app: App, context: RouteContext, installed: Installed): void {
  healthRoutes(app, context);
  versionRoutes(app, context);
  licenseRoutes(app, context);
  sessionRoutes(app, context);
  openapiRoutes(app);
  docsPageRoutes(app, context.config.server.ui.enabled);
  scanRoutes(app, context);
  planRoutes(app, context);
  scanRequestRoutes(app, context);
  diffRoutes(app, context);
  jobRoutes(app, context);
  recordRoutes(app, context);
  facetRoutes(app, context);
  fixRoutes(app, context);
  explainRoutes(app, context);
  coverageRoutes(app, context);
  eventRoutes(app, context);
  serviceEventRoutes(app, context);
  workspaceRoutes(app, context);
  moduleRoutes(app, installed);
  profileRoutes(app, context, installed);
  dagRoutes(app, context, installed);
  pluginRoutes(app, context);
  pluginChangeRoutes(app, context);
  vulndbRoutes(app, context);
  alertRoutes(app, context);
  notificationRoutes(app, context);
  auditRoutes(app, context);
  tokenRoutes(app, context);
  configRoutes(app, context);
  workerRoutes(app, context);
  scheduleRoutes(app, context);
  dashboardRoutes(app, context);
}

function acceptJsonOnly(app: App): void {
  const parse = async (_request: FastifyRequest, body: string | Buffer) => parseJsonBody(body as Buffer);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse);
  // The catch-all also handles bodies without a type, which count as JSON.
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: string | Buffer) => {
      if (request.headers['content-type'] === undefined) return parseJsonBody(body as Buffer);
      const shape = bodyShape(request.routeOptions.schema?.body);
      const such = shape === null ? '' : ` and a body such as ${shape}`;
      throw new PortolanError(
        'unsupported_media_type',
        `The request body must be JSON: send Content-Type: application/json${such}.`,
      );
    },
  );
}

/** What a body has at least, by the examples of its schema: `{"text":"name: sweep …"}`; null if the route takes none. */
function bodyShape(schema: unknown): string | null {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { type?: string; examples?: unknown[] }>;
    required?: string[];
  };
  const members = required.map((name) => {
    const { type, examples } = properties[name] ?? {};
    const usual = { array: ['…'], object: {} }[type ?? ''] ?? '…';
    return [name, examples?.[0] ?? usual];
  });
  return members.length === 0 ? null : JSON.stringify(Object.fromEntries(members));
}

/** Paths that cannot be decoded never reach the hooks, so the checks run here. */
function rejectBadUrl(check: RequestCheck, error: Error, request: FastifyRequest, reply: FastifyReply): void {
  check(request, reply, (refusal) => {
    if (!reply.sent) sendError(refusal ?? error, request, reply);
  });
}

/** Sockets whose malformed request got its response; further data is dropped. */
const responded = new WeakSet<Socket>();

/** node:http passes the bytes as a Buffer; fastify declares them as their JSON form. */
type BrokenRequest = Error & { code?: string; rawPacket?: unknown };

/** Requests that node:http cannot parse: headers too long or too late, or not HTTP at all. */
function rejectBrokenRequest(
  error: BrokenRequest,
  socket: Socket,
): { refusal: PortolanError; id: string } | null {
  if (responded.has(socket)) return null;
  if (error.code === 'ECONNRESET' || !socket.writable || isTlsFailure(error)) {
    socket.destroy();
    return null;
  }
  responded.add(socket);
  // Closing a socket with unread bytes resets the connection, and the client loses the response.
  setTimeout(() => socket.destroy(), lingerMs).unref();
  const refusal = rejectionOf(error);
  const id = requestId();
  const body = JSON.stringify(errorShape(refusal, { request_id: id }));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${refusal.code}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return { refusal, id };
}

/** TLS handshake failures: there is no session to respond in. */
function isTlsFailure({ code = '' }: BrokenRequest): boolean {
  return code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS');
}

function rejectionOf(error: BrokenRequest): PortolanError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const urlOnly = Buffer.isBuffer(error.rawPacket) && !error.rawPacket.includes('\n');
    return urlOnly
      ? new PortolanError('uri_too_long', `The URL exceeds ${maxUrlLength} bytes.`)
      : new PortolanError('headers_too_large', `The headers exceed ${maxHeaderBytes} bytes.`);
  }
  const text =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'Timeout while receiving the request.'
      : 'Malformed HTTP request.';
  return new PortolanError('invalid_request', text);
}

/** The path without its query, which may contain secrets. */
function logResponse({ log }: ServerContext, request: FastifyRequest, reply: FastifyReply): void {
  const quiet = request.method === 'GET' || request.method === 'HEAD';
  const level = quiet ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      request_id: request.id,
      method: request.method,
      path: pathWithoutTokens(pathOf(request)).slice(0, 200),
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      token: request.tokenId,
    },
    'request',
  );
}

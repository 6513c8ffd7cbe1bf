import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type Code, ConnectError, createConnectRouter, createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import { isOutside } from '../../config/required-tokens.ts';
import { PortolanError } from '../../domain/errors.ts';
import { pathWithoutTokens } from '../../domain/text/secret-text.ts';
import { checkClientAddress, type RequestHead, type RouteAccess } from '../access/auth.ts';
import { requestId } from '../access/request-id.ts';
import type { ServerContext } from '../context.ts';
import { faultLevel } from '../http/errors.ts';
import { AllowedHosts } from '../http/request/allowed-hosts.ts';
import { ClientAddresses } from '../http/request/client-address.ts';
import { Cors } from '../http/request/cors.ts';
import { maxBodyBytes } from '../http/request/json-body.ts';
import { handlerTimeoutMs } from '../http/routes.ts';
import { recordCall } from './audit-calls.ts';
import { type Call, callKey } from './call.ts';
import { CallResponse, withErrorCode } from './call-response.ts';
import { methodRules } from './method-rules.ts';
import { addHealth } from './services/health-service.ts';
import { addJobs } from './services/job-service.ts';
import { addReflection } from './services/reflection-service.ts';
import { addScans } from './services/scan-service.ts';
import { addWorkspace } from './services/workspace-service.ts';
import { rejectionOf } from './status.ts';

/** Headers that the library handles; all others are handled here. */
const protocolHeaders = ['content-type', 'grpc-timeout', 'grpc-encoding', 'grpc-accept-encoding'];

/** Header of a call's timeout: digits and a unit. Units in milliseconds. */
const timeoutUnits: Record<string, number> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Maximum size of all headers of a call, bytes. */
export const maxMetadataBytes = 16 * 1024;
/** Maximum number of header fields of a call. */
export const maxHeaderFields = 100;

/**
 * Outcome of admission: `admitted` with a valid token, or where none is required; `rejected` for an invalid token, or
 * canceled before admission. Calls that end otherwise have no outcome.
 */
type Checked = 'admitted' | 'rejected';

/** Maximum delay of a timer, milliseconds. */
const maxTimerMs = 2_147_483_647;

/** Handles calls: the checks in the order of the REST API, then the method, then status, log, audit and metrics. */
export class Calls {
  readonly #context: ServerContext;
  readonly #handlers: ReadonlyMap<string, UniversalHandler>;
  readonly #clients: ClientAddresses;
  readonly #hosts: AllowedHosts;
  readonly #cors: Cors;
  readonly #tokensDemanded: boolean;
  readonly #protectedMode: boolean;

  constructor(context: ServerContext) {
    const { server } = context.config;
    this.#context = context;
    this.#handlers = handlersOf(context);
    this.#clients = new ClientAddresses(server.trusted_proxies);
    this.#hosts = new AllowedHosts({ ...server, bind: server.grpc.bind });
    this.#cors = new Cors(server.cors);
    this.#tokensDemanded = requiresToken(context);
    this.#protectedMode = isProtectedMethod(context);
  }

  /**
   * Listener for the streams of an HTTP/2 server.
   * @param onChecked called once, see `Checked`
   */
  answer(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: string[],
    onChecked: (outcome: Checked) => void,
  ): void {
    // Stream errors surface where it is read and written.
    stream.on('error', () => undefined);
    const socket = stream.session?.socket;
    if (socket === undefined) return stream.close();
    const host = headers[':authority'] ?? headers.host;
    const head: RequestHead = {
      headers: { ...headers, ...(host !== undefined && { host }) },
      rawHeaders,
      url: headers[':path'] ?? '',
      socket: socket as RequestHead['socket'],
    };
    void this.#serve(stream, head, onChecked).catch((err: unknown) => {
      this.#context.log.error({ err }, 'gRPC call failed');
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
  }

  async #serve(
    stream: ServerHttp2Stream,
    head: RequestHead,
    onChecked: (outcome: Checked) => void,
  ): Promise<void> {
    const gone = new AbortController();
    stream.once('close', () => gone.abort());
    const call = this.#begin(head, gone.signal);
    const response = new CallResponse(stream, call.headers);
    const stopDeadline = this.#startDeadline(call, response, gone);
    let outcome: Checked = 'rejected';
    try {
      await this.#admit(call);
      // An open method has no token: a client that cancels it at once proves nothing.
      if (call.rule?.access !== 'open') outcome = 'admitted';
      if (outcome === 'admitted') onChecked(outcome);
      await this.#run(call, response, stream);
    } catch (cause) {
      call.refusal ??= rejectionOf(cause);
      response.refuse(call.refusal);
    }
    stopDeadline();
    if (outcome === 'rejected' && (isUntrusted(call) || gone.signal.aborted)) onChecked(outcome);
    gone.abort();
    this.#log(call);
    await call.record();
  }

  #begin(head: RequestHead, signal: AbortSignal): Call {
    const path = head.url?.split('?')[0] ?? '';
    const id = requestId(head);
    const rule = (Object.hasOwn(methodRules, path) && methodRules[path]) || null;
    let recorded = false;
    const call: Call = {
      id,
      path,
      rule,
      head,
      client: this.#clients.of(head),
      startedAt: performance.now(),
      signal,
      headers: { 'x-request-id': id },
      unknownFields: [],
      reached: false,
      token: null,
      space: null,
      body: undefined,
      resource: rule?.resource === undefined ? null : { type: rule.resource, id: null },
      refusal: null,
      record: async () => {
        if (recorded) return;
        recorded = true;
        await recordCall(this.#context, call);
      },
    };
    return call;
  }

  /**
   * Starts the deadlines. The client's covers every call; the service's covers unary calls, and streaming calls until
   * their message was read.
   *
   * @returns function that cancels them
   */
  #startDeadline(call: Call, response: CallResponse, gone: AbortController): () => void {
    const end = (limit: number) => {
      if (response.ended) return;
      call.refusal = new PortolanError('timeout', `The response took longer than ${limit / 1000} s.`);
      response.refuse(call.refusal);
      gone.abort();
    };
    const clientLimit = timeoutOf(call.head.headers['grpc-timeout']);
    const timers = [
      clientLimit <= maxTimerMs ? setTimeout(() => end(clientLimit), clientLimit) : undefined,
      setTimeout(() => {
        if (!call.rule?.streams || !call.reached) end(handlerTimeoutMs);
      }, handlerTimeoutMs),
    ];
    return () => timers.forEach(clearTimeout);
  }

  /** All checks before a message is read. @throws PortolanError */
  async #admit(call: Call): Promise<void> {
    const { admission, phase } = this.#context;
    const { head, client, rule } = call;
    const access = rule?.access ?? 'any';
    checkSize(head);
    if (this.#protectedMode) {
      checkClientAddress(head.socket.remoteAddress);
      checkClientAddress(client);
    }
    this.#checkBrowser(head, access);
    if (access === 'open') return;
    const setHeaders = (headers: Record<string, string>) => void Object.assign(call.headers, headers);
    if (this.#tokensDemanded) call.token = await admission.authenticate(head, client, setHeaders);
    const how = { wholeService: rule?.wholeService ?? false, unmetered: false };
    const choice = admission.meter({ head, client, token: call.token }, how, setHeaders);
    if (rule === null) throw new PortolanError('not_implemented', 'Unknown method.');
    if ('space' in choice) call.space = choice.space;
    admission.enter(choice, call.token, access, rule.feature);
    if (phase === 'draining' && rule.changes) {
      throw new PortolanError('unavailable', 'The server is shutting down.');
    }
    if (rule.eventStream) whenAborted(call.signal, admission.openStream(call, setHeaders));
    if (!rule.streams) await admission.takeSlot(call, (work) => whenAborted(call.signal, work), setHeaders);
  }

  /** Without tokens, a page in a browser of this network must not control the service. */
  #checkBrowser(head: RequestHead, access: RouteAccess): void {
    if (this.#tokensDemanded || access === 'open') return;
    this.#hosts.checkApi(head);
    const { origin } = head.headers;
    if (origin === undefined || this.#hosts.isOwnOrigin(origin, head) || this.#cors.lists(origin)) return;
    throw new PortolanError(
      'forbidden_origin',
      'Cross-origin request rejected; add the origin to server.cors.origins to allow it.',
    );
  }

  async #run(call: Call, reply: CallResponse, stream: ServerHttp2Stream): Promise<void> {
    const handler = this.#handlers.get(call.path);
    if (!handler) throw new PortolanError('not_implemented', 'Unknown method.');
    const { head, signal } = call;
    const header = new Headers();
    for (const name of protocolHeaders) {
      const value = head.headers[name];
      // `grpc-timeout` is handled here, see `#startDeadline`.
      if (typeof value === 'string' && name !== 'grpc-timeout') header.set(name, value);
    }
    const response = await handler({
      httpVersion: '2.0',
      method: String(head.headers[':method'] ?? ''),
      url: `http://localhost${call.path}`,
      header,
      body: stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>,
      signal,
      contextValues: createContextValues().set(callKey, call),
    });
    await send(call, reply, response);
  }

  #log(call: Call): void {
    const { log, metrics } = this.#context;
    const { path, rule, refusal, startedAt } = call;
    const milliseconds = performance.now() - startedAt;
    const status = refusal?.status ?? 200;
    metrics.countResponse({
      route: rule ? path : null,
      status,
      milliseconds: rule?.streams ? null : milliseconds,
    });
    if (refusal && refusal.status >= 500 && refusal.cause !== undefined) {
      log[faultLevel(refusal)](
        { request_id: call.id, err: refusal.cause, method: pathWithoutTokens(path).slice(0, 200) },
        refusal.message,
      );
    }
    const level = rule?.changes ? 'info' : 'debug';
    log[level](
      {
        request_id: call.id,
        method: 'gRPC',
        path: pathWithoutTokens(path).slice(0, 200),
        status,
        duration_ms: Math.round(milliseconds),
        token: call.token?.id ?? null,
      },
      'request',
    );
  }
}

/** Rejected for its token, or for too many wrong ones. */
function isUntrusted({ token, refusal }: Call): boolean {
  return token === null && (refusal?.code === 'unauthorized' || refusal?.code === 'rate_limited');
}

function whenAborted(signal: AbortSignal, work: () => void): void {
  if (signal.aborted) work();
  else signal.addEventListener('abort', work, { once: true });
}

/** @throws PortolanError `headers_too_large` */
function checkSize({ rawHeaders }: RequestHead): void {
  if (rawHeaders.length > 2 * maxHeaderFields) {
    throw new PortolanError('headers_too_large', `The call has more than ${maxHeaderFields} header fields.`);
  }
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  if (bytes > maxMetadataBytes) {
    throw new PortolanError('headers_too_large', `The headers exceed ${maxMetadataBytes} bytes.`);
  }
}

/** Sends the response as fast as the client reads it. */
async function send(call: Call, reply: CallResponse, response: UniversalServerResponse): Promise<void> {
  const { status, header = new Headers(), body, trailer = new Headers() } = response;
  if (status !== 200) {
    call.refusal = new PortolanError('unsupported_media_type', 'Not a gRPC call.');
    reply.refuseHttp(status);
    return;
  }
  const messages = body?.[Symbol.asyncIterator]();
  try {
    for (let next = await messages?.next(); next && !next.done; next = await messages?.next()) {
      reply.begin(header);
      await reply.write(next.value);
      if (reply.ended) break;
    }
  } finally {
    void messages?.return?.().catch(() => undefined);
  }
  if (reply.ended) return;
  const failure = trailer.get('grpc-status') ?? '0';
  if (failure !== '0') {
    const error = new ConnectError(messageOf(trailer), Number(failure) as Code);
    call.refusal ??= rejectionOf(error, !call.reached);
  }
  reply.begin(header);
  reply.end(withErrorCode(trailer, call.refusal));
}

/** Text of a status. */
function messageOf(trailer: Headers): string {
  try {
    return decodeURIComponent(trailer.get('grpc-message') ?? '');
  } catch {
    return '';
  }
}

/** @throws Error, so that a server with a method without a rule never starts */
function handlersOf(context: ServerContext): Map<string, UniversalHandler> {
  const router = createConnectRouter({
    grpc: true,
    grpcWeb: false,
    connect: false,
    readMaxBytes: maxBodyBytes,
    acceptCompression: [compressionGzip],
  });
  addScans(router, context);
  addJobs(router, context);
  addWorkspace(router, context);
  addHealth(router, context);
  addReflection(router);
  for (const { requestPath } of router.handlers) {
    if (!Object.hasOwn(methodRules, requestPath)) throw new Error(`${requestPath} declares no access`);
  }
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

/** @returns milliseconds, infinite without a limit; an invalid header counts as none */
function timeoutOf(header: string | string[] | undefined): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header ?? '')) ?? [];
  const unitMs = timeoutUnits[unit ?? ''];
  return unitMs === undefined ? Number.POSITIVE_INFINITY : Number(digits) * unitMs;
}

/** gRPC requires tokens where REST does, and where other machines can reach it. */
export function requiresToken({ config: { server } }: Pick<ServerContext, 'config'>): boolean {
  return server.api.auth ?? (isOutside(server.bind) || isOutside(server.grpc.bind));
}

/** As in the REST API: reachable from outside without tokens, it serves only clients on this machine. */
export function isProtectedMethod(context: Pick<ServerContext, 'config'>): boolean {
  const { server } = context.config;
  return isOutside(server.grpc.bind) && !requiresToken(context) && !server.allow_insecure;
}

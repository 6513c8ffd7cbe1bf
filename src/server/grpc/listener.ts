import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { parseEndpoint } from '../../config/endpoint.ts';
import type { Listener } from '../../net/local-listeners.ts';
import type { ServerContext } from '../context.ts';
import type { SecureListener, TlsMaterial } from '../tls.ts';
import { Calls, isProtectedMethod, maxHeaderFields, maxMetadataBytes } from './calls.ts';

/** How connections are looked after; milliseconds. */
export interface ConnectionLimits {
  /** They are looked at this often. */
  lookMs: number;
  /** One without a call is closed after this. */
  idleMs: number;
  /** Time limit for a ping response; then the client counts as gone. */
  pingTimeoutMs: number;
  /** Monotonic milliseconds. */
  now: () => number;
}

const usualCare: ConnectionLimits = {
  lookMs: 10_000,
  idleMs: 75_000,
  pingTimeoutMs: 20_000,
  now: () => performance.now(),
};

/** Calls that one connection may have under way. */
const maxStreams = 100;
/**
 * Resets of calls that one connection may send at once, and then in a second: a client may cancel all that it has under
 * way. Beyond, the HTTP/2 library closes the connection.
 */
const maxResetBurst = 200;
const maxResetsPerSecond = 20;
/** Calls without a valid token, or canceled before one was shown, that one connection may make in a minute. */
const maxRejectedCalls = 20;
const rejectionWindowMs = 60_000;
/** A client that has never shown a valid token may read its last responses for so long, milliseconds. */
const rejectedLingerMs = 500;
/** Megabytes that one connection may hold in memory. */
const maxSessionMegabytes = 10;

interface Session {
  calls: number;
  /** Monotonic milliseconds of the last end of a call. */
  quietSince: number;
  /** When the pending ping was sent. */
  pingedAt: number | null;
  /** A call of it was admitted. */
  trusted: boolean;
  /** Since `rejectedSince`, monotonic milliseconds. */
  rejectedCalls: number;
  rejectedSince: number;
  /** It made too many such calls: nothing further of it is served. */
  rejected: boolean;
}

/** The listener of the gRPC API: HTTP/2 with the certificate of the REST API, or in the clear where that has none. */
export class GrpcListener implements SecureListener {
  readonly #context: ServerContext;
  readonly #server: Http2Server | Http2SecureServer;
  readonly #sessions = new Map<ServerHttp2Session, Session>();
  readonly #timer: NodeJS.Timeout;
  readonly #secure: boolean;
  readonly #care: ConnectionLimits;
  #onQuiet: (() => void) | null = null;

  constructor(context: ServerContext, tls: TlsMaterial | null, care: ConnectionLimits = usualCare) {
    this.#care = care;
    this.#context = context;
    this.#secure = tls !== null;
    this.#server = http2Server(tls);
    const calls = new Calls(context);
    // One type for both kinds of servers: their events are the same.
    const server = this.#server as Http2Server;
    server.on('session', (session) => this.#follow(session));
    server.on('stream', (stream, headers, _flags, rawHeaders) => {
      const state = this.#count(stream);
      if (!state || state.rejected) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      calls.answer(stream, headers, rawHeaders, (outcome) => {
        if (outcome === 'admitted') state.trusted = true;
        else this.#countRejected(stream.session as ServerHttp2Session | undefined, state);
      });
    });
    // A client that breaks the protocol ends its own connection only.
    this.#server.on('sessionError', () => undefined);
    this.#timer = setInterval(() => this.#look(), care.lookMs).unref();
  }

  /** Where it listens; empty before it does. */
  get listeners(): Listener[] {
    const bound = this.#server.address() as AddressInfo | null;
    return bound ? [{ host: bound.address, port: bound.port }] : [];
  }

  /** @throws what the system says when the address cannot be bound */
  async listen(): Promise<void> {
    const { host, port } = grpcEndpoint(this.#context.config.server.grpc.bind);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (err) => this.#context.log.error({ err }, 'the gRPC listener failed'));
        resolve();
      });
    });
    this.#announce();
  }

  /** Exchanges the certificate for new connections. Only with TLS. */
  setSecureContext(context: SecureContextOptions): void {
    (this.#server as Http2SecureServer).setSecureContext(context);
  }

  /** Takes no more connections and lets the calls that are under way end, for so long at most. */
  async close(ms: number): Promise<void> {
    clearInterval(this.#timer);
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const session of this.#sessions.keys()) session.close();
    await this.#quiet(ms);
    for (const session of this.#sessions.keys()) session.destroy();
    await closed;
  }

  #announce(): void {
    const { config, log } = this.#context;
    const [bound] = this.listeners;
    if (isProtectedMethod(this.#context)) {
      log.warn(
        'PROTECTED MODE: the gRPC API listens on a non-loopback address without tokens and serves only clients on this ' +
          'machine. Set server.api.auth: true to require tokens, or server.allow_insecure: true to serve every client.',
      );
    }
    log.info({ bind: config.server.grpc.bind, port: bound?.port, tls: this.#secure }, 'gRPC listening');
  }

  #follow(session: ServerHttp2Session): void {
    this.#sessions.set(session, {
      calls: 0,
      quietSince: this.#care.now(),
      pingedAt: null,
      trusted: false,
      rejectedCalls: 0,
      rejectedSince: Number.NEGATIVE_INFINITY,
      rejected: false,
    });
    session.on('error', () => undefined);
    session.once('close', () => {
      this.#sessions.delete(session);
      if (this.#sessions.size === 0) this.#onQuiet?.();
    });
  }

  #count(stream: ServerHttp2Stream): Session | null {
    const state = this.#sessions.get(stream.session as ServerHttp2Session);
    if (!state) return null;
    state.calls++;
    stream.once('close', () => {
      state.calls--;
      state.quietSince = this.#care.now();
    });
    return state;
  }

  /**
   * Each such call costs the server more than its client. A proxy may carry calls of others on the same connection:
   * what was admitted there goes on to its end.
   */
  #countRejected(session: ServerHttp2Session | undefined, state: Session): void {
    const now = this.#care.now();
    if (now - state.rejectedSince > rejectionWindowMs) {
      state.rejectedSince = now;
      state.rejectedCalls = 0;
    }
    state.rejectedCalls += 1;
    if (state.rejectedCalls < maxRejectedCalls || state.rejected || !session || session.destroyed) return;
    state.rejected = true;
    // Many clients end every call of a connection whose GOAWAY has an error code.
    if (!state.trusted) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.close();
    if (!state.trusted) setTimeout(() => session.destroy(), rejectedLingerMs).unref();
  }

  /** Closes idle connections and those whose client no longer responds. */
  #look(): void {
    const { idleMs, pingTimeoutMs } = this.#care;
    const now = this.#care.now();
    for (const [session, state] of this.#sessions) {
      if (state.pingedAt !== null && now - state.pingedAt > pingTimeoutMs) session.destroy();
      else if (state.calls === 0 && now - state.quietSince > idleMs) end(session);
      else if (state.pingedAt === null && !session.closed && !session.destroyed) {
        state.pingedAt = now;
        session.ping(() => {
          state.pingedAt = null;
        });
      }
    }
  }

  async #quiet(ms: number): Promise<void> {
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, ms);
      this.#onQuiet = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }
}

/** Says goodbye, and waits no longer than until the next look for the client to do the same. */
function end(session: ServerHttp2Session): void {
  if (session.closed) session.destroy();
  else session.close();
}

/** @param bind `host:port` */
export function grpcEndpoint(bind: string): { host: string; port: number } {
  return parseEndpoint(bind) ?? { host: '127.0.0.1', port: 9090 };
}

/** A server that takes no more than calls need; in the clear without a certificate. */
export function http2Server(tls: TlsMaterial | null): Http2Server | Http2SecureServer {
  const options = {
    maxSessionMemory: maxSessionMegabytes,
    // Headers slightly above the limit get a response; beyond that the library ends the stream.
    maxHeaderListPairs: 2 * maxHeaderFields,
    streamResetBurst: maxResetBurst,
    streamResetRate: maxResetsPerSecond,
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: 2 * maxMetadataBytes },
  };
  if (!tls) return createServer(options);
  const { cert, key, minVersion } = tls;
  return createSecureServer({ ...options, cert, key, minVersion, handshakeTimeout: 30_000 });
}

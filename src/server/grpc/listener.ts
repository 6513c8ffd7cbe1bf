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

/** Limits of connections, milliseconds. */
export interface ConnectionLimits {
  /** Check interval. */
  lookMs: number;
  /** Timeout of a connection without calls. */
  idleMs: number;
  /** Timeout of a ping response; then the client counts as gone. */
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

/** Concurrent calls per connection. */
const maxStreams = 100;
/**
 * Stream resets of one connection in a burst: a client may cancel all of its calls. Beyond, the HTTP/2 library closes
 * the connection.
 */
const maxResetBurst = 200;
/** Stream resets of one connection per second, after the burst. */
const maxResetsPerSecond = 20;
/**
 * Invalid frames of a connection in all, streams beyond `maxStreams` among them: the library unpacks the headers of each, and a
 * client that knows the limit sends none. Beyond, it closes the connection; by itself at 1,000.
 */
const maxInvalidFrames = 200;
/** Calls per connection and minute without a valid token, or canceled before admission. */
const maxRejectedCalls = 20;
const rejectionWindowMs = 60_000;
/** Time for a client that never showed a valid token to read its last responses, milliseconds. */
const rejectedLingerMs = 500;
/** Memory limit per connection, megabytes. */
const maxSessionMegabytes = 10;

interface Session {
  calls: number;
  /** Calls that came in this turn of the event loop. */
  arrived: number;
  /** End of the last call, monotonic milliseconds. */
  quietSince: number;
  /** When the pending ping was sent. */
  pingedAt: number | null;
  /** A call of the connection was admitted. */
  trusted: boolean;
  /** Since `rejectedSince`, monotonic milliseconds. */
  rejectedCalls: number;
  rejectedSince: number;
  /** Too many rejected calls: no further call is served. */
  rejected: boolean;
}

/** Listener of the gRPC API: HTTP/2 with the certificate of the REST API, or without TLS if that has none. */
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
    // One type for both kinds of servers: they have the same events.
    const server = this.#server as Http2Server;
    server.on('session', (session) => this.#follow(session));
    server.on('stream', (stream, headers, _flags, rawHeaders) => {
      const state = this.#count(stream);
      if (!state || state.rejected) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      const session = stream.session as ServerHttp2Session | undefined;
      stream.on('error', () => undefined);
      afterReading(session, state, () => {
        if (stream.closed || stream.destroyed) return;
        calls.answer(stream, headers, rawHeaders, (outcome) => {
          if (outcome === 'admitted') state.trusted = true;
          else this.#countRejected(session, state);
        });
      });
    });
    // A protocol violation only ends that client's connection.
    this.#server.on('sessionError', () => undefined);
    this.#timer = setInterval(() => this.#look(), care.lookMs).unref();
  }

  /** Bound addresses; empty before it listens. */
  get listeners(): Listener[] {
    const bound = this.#server.address() as AddressInfo | null;
    return bound ? [{ host: bound.address, port: bound.port }] : [];
  }

  /** @throws the system error if the address cannot be bound */
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

  /** Replaces the certificate for new connections. Only with TLS. */
  setSecureContext(context: SecureContextOptions): void {
    (this.#server as Http2SecureServer).setSecureContext(context);
  }

  /** Accepts no more connections; running calls have `ms` to end. */
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
      arrived: 0,
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
   * A rejected call costs the server more than its client. A proxy may multiplex calls of others on the same
   * connection: admitted ones continue.
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
    // Many clients abort every call of a connection when GOAWAY has an error code.
    if (!state.trusted) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.close();
    if (!state.trusted) setTimeout(() => session.destroy(), rejectedLingerMs).unref();
  }

  /** Closes idle connections and those of unresponsive clients. */
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

/**
 * Does the work of a call once everything has been read that came with it: a reset may be among it. The HTTP/2 library counts
 * resets, but acts on them only then, too. More calls at once than resets are allowed in a burst are such resets, since
 * `maxStreams` allows only half as many.
 */
function afterReading(session: ServerHttp2Session | undefined, state: Session, work: () => void): void {
  state.arrived += 1;
  if (state.arrived > maxResetBurst) {
    session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session?.destroy();
    return;
  }
  setImmediate(() => {
    state.arrived -= 1;
    work();
  });
}

/** Sends GOAWAY; the next check destroys the connection if it is still open. */
function end(session: ServerHttp2Session): void {
  if (session.closed) session.destroy();
  else session.close();
}

/** @param bind `host:port` */
export function grpcEndpoint(bind: string): { host: string; port: number } {
  return parseEndpoint(bind) ?? { host: '127.0.0.1', port: 9090 };
}

/** A server with tight limits; without TLS if there is no certificate. */
export function http2Server(tls: TlsMaterial | null): Http2Server | Http2SecureServer {
  const options = {
    maxSessionMemory: maxSessionMegabytes,
    maxSessionInvalidFrames: maxInvalidFrames,
    // Headers slightly above the limit get an error response; beyond that the library resets the stream.
    maxHeaderListPairs: 2 * maxHeaderFields,
    streamResetBurst: maxResetBurst,
    streamResetRate: maxResetsPerSecond,
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: 2 * maxMetadataBytes },
  };
  if (!tls) return createServer(options);
  const { cert, key, minVersion } = tls;
  return createSecureServer({ ...options, cert, key, minVersion, handshakeTimeout: 30_000 });
}

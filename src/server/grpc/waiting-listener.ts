import type { Http2SecureServer, Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import type { PortolanError } from '../../domain/errors.ts';
import type { TlsMaterial } from '../tls.ts';
import { CallResponse } from './call-response.ts';
import {
  Health,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from './gen/grpc/health/v1/health_pb.ts';
import { grpcEndpoint, http2Server } from './listener.ts';

/** Maximum number of connections: clients are not authenticated. */
const maxConnections = 256;
/** Time for pending responses to be read, milliseconds. */
const closingMs = 500;

/** gRPC API of a server that cannot start yet: rejects every call; the standard health protocol reports it. */
export class WaitingListener {
  readonly #server: Http2Server | Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #watchers = new Set<CallResponse>();
  readonly #refusal: PortolanError;

  /**
   * @param bind `host:port`
   * @param refusal error of every call
   * @throws the system error if the address cannot be bound
   */
  static async open(bind: string, tls: TlsMaterial | null, refusal: PortolanError): Promise<WaitingListener> {
    const listener = new WaitingListener(tls, refusal);
    await listener.#listen(grpcEndpoint(bind));
    return listener;
  }

  private constructor(tls: TlsMaterial | null, refusal: PortolanError) {
    this.#refusal = refusal;
    this.#server = http2Server(tls);
    this.#server.maxConnections = maxConnections;
    // One type for both kinds of servers: they have the same events.
    const server = this.#server as Http2Server;
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('error', () => undefined);
      session.once('close', () => this.#sessions.delete(session));
    });
    server.on('stream', (stream, headers) => this.#respond(stream, headers[':path'] ?? ''));
    server.on('sessionError', () => undefined);
  }

  /** Ends every call; clients reconnect to the started server. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const watcher of this.#watchers) watcher.refuse(this.#refusal);
    for (const session of this.#sessions) session.close();
    const late = setTimeout(() => {
      for (const session of this.#sessions) session.destroy();
    }, closingMs);
    await closed;
    clearTimeout(late);
  }

  async #listen({ host, port }: { host: string; port: number }): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', () => undefined);
        resolve();
      });
    });
  }

  #respond(stream: ServerHttp2Stream, path: string): void {
    stream.on('error', () => undefined);
    const response = new CallResponse(stream, {});
    const method = path.split('/').at(-1);
    if (path !== `/${Health.typeName}/${method}`) return response.refuse(this.#refusal);
    if (method !== 'Check' && method !== 'Watch') return response.refuse(this.#refusal);
    response.begin(new Headers({ 'content-type': 'application/grpc+proto' }));
    void response.write(notServing);
    if (method === 'Check') return response.end(new Headers({ 'grpc-status': '0' }));
    this.#watchers.add(response);
    stream.once('close', () => this.#watchers.delete(response));
  }
}

const notServing = framed(
  toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status: Status.NOT_SERVING })),
);

/** Frames a message for the wire: uncompressed flag, length, bytes. */
function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(5 + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, 5);
  return frame;
}

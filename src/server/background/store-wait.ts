import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEndpoint } from '../../config/endpoint.ts';
import { PortolanError } from '../../domain/errors.ts';
import { errorShape } from '../http/errors.ts';
import type { ServerLog } from '../logging/log.ts';
import type { TlsMaterial } from '../tls.ts';

/** Retry interval while the database is unreachable, milliseconds. */
const retryMs = 1000;

/** Liveness probes. */
const aliveUrls = new Set(['/health', '/livez', '/healthz']);

export interface WaitInput {
  /** `host:port` of the API. */
  bind: string;
  tls: TlsMaterial | null;
  /** `host:port` of the gRPC API; null when it is off. */
  grpcBind: string | null;
  log: ServerLog;
  /** Stops waiting. */
  stopping: AbortSignal | undefined;
}

/**
 * Opens a remote store. While it is unreachable, the API listeners respond with `unavailable` and Retry-After; then
 * the start continues.
 *
 * @throws PortolanError whatever `open` throws except `unavailable`; that too once `stopping` is aborted
 */
export async function openWhenReachable<T>(open: () => Promise<T>, input: WaitInput): Promise<T> {
  let responder: Responder | null = null;
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (!isUnavailable(error) || input.stopping?.aborted) throw error;
        if (responder === null) {
          input.log.warn({ err: error }, 'store unreachable, waiting to continue the start');
          responder = await respondUnavailable(input);
        }
        await sleep(retryMs, undefined, { signal: input.stopping }).catch(() => undefined);
      }
    }
  } finally {
    await responder?.close();
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'unavailable';
}

/** The response to every request. */
function storeAway(): PortolanError {
  return new PortolanError('unavailable', 'The store is unreachable; the server is waiting for it.');
}

interface Responder {
  close(): Promise<void>;
}

/** Listens for both APIs. @throws the system error when an address cannot be bound */
async function respondUnavailable({ bind, grpcBind, tls }: WaitInput): Promise<Responder> {
  const http = await respondHttp(bind, tls);
  if (grpcBind === null) return { close: () => closed(http) };
  try {
    const { WaitingListener } = await import('../grpc/waiting-listener.ts');
    const grpc = await WaitingListener.open(grpcBind, tls, storeAway());
    return { close: async () => void (await Promise.all([closed(http), grpc.close()])) };
  } catch (error) {
    await closed(http);
    throw error;
  }
}

async function respondHttp(bind: string, tls: TlsMaterial | null): Promise<Server> {
  const { host, port } = parseEndpoint(bind) ?? { host: '127.0.0.1', port: 8080 };
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const alive = aliveUrls.has(request.url ?? '');
    const refusal = storeAway();
    const body = alive ? { status: 'healthy', data: { status: 'healthy' } } : errorShape(refusal, {});
    response.writeHead(alive ? 200 : refusal.status, {
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '5',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(JSON.stringify(body));
  };
  const server = tls
    ? createHttpsServer({ cert: tls.cert, key: tls.key, minVersion: tls.minVersion }, respond)
    : createHttpServer(respond);
  server.requestTimeout = 10_000;
  server.maxConnections = 256;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server as Server;
}

async function closed(server: Server): Promise<void> {
  const gone = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await gone;
}

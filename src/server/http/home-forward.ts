import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerContext } from '../context.ts';
import { forwardedHeader } from '../shards/home-servers.ts';
import type { App } from './app-type.ts';
import { routeOf } from './routes.ts';

/** Request headers to forward. */
const forwardedHeaders = [
  'authorization',
  'accept',
  'last-event-id',
  'x-tenant-id',
  'range',
  'if-none-match',
];
/** Response headers that this server sets itself (RFC 9110, 7.6.1, and the request id). */
const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id']);

/** Forwards requests for the files of a scan to the server that has them. */
export function forwardToHome(app: App, { shards }: ServerContext): void {
  if (!shards) return;
  app.addHook('preHandler', async (request, reply) => {
    if (!routeOf(request).config.atHome) return;
    const { scan_id: scanId } = request.params as { scan_id: string };
    // Do not reveal the location of another tenant's scan.
    if ((await request.space.store.scans.executor(scanId)) === null) return;
    if (request.headers[forwardedHeader] !== undefined) return await shards.homes.demandHere(scanId);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const { method, url } = request;
    const whole = routeOf(request).config.atHome === 'whole';
    const requested = { method, url, headers: headersOf(request), signal: gone.signal, whole };
    const response = await shards.homes.ask(scanId, requested);
    if (response) return sendOn(reply, response);
  });
}

function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const known = forwardedHeaders.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(known), 'accept-encoding': 'identity' };
}

function sendOn(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status);
  for (const [name, value] of response.headers) if (!ownHeaders.has(name)) reply.header(name, value);
  return reply.send(response.body ? Readable.fromWeb(response.body as ReadableStream) : null);
}

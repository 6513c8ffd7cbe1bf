import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerContext } from '../context.ts';
import { forwardedHeader } from '../shards/home-servers.ts';
import type { App } from './app-type.ts';
import { routeOf } from './routes.ts';

/** What of a request the other server has to know. */
const handedOn = ['authorization', 'accept', 'last-event-id', 'x-tenant-id', 'range', 'if-none-match'];
/** What this server says for itself in its own answer (RFC 9110, 7.6.1 and the request's own id). */
const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id']);

/** Requests for the files of a scan that lies with another server are answered by that one. */
export function forwardToHome(app: App, { shards }: ServerContext): void {
  if (!shards) return;
  app.addHook('preHandler', async (request, reply) => {
    if (!routeOf(request).config.atHome) return;
    const { scan_id: scanId } = request.params as { scan_id: string };
    // Of somebody else's scan not even the place is told.
    if ((await request.space.store.scans.executor(scanId)) === null) return;
    if (request.headers[forwardedHeader] !== undefined) return await shards.homes.demandHere(scanId);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const { method, url } = request;
    const asked = { method, url, headers: headersOf(request), signal: gone.signal };
    const answer = await shards.homes.ask(scanId, asked);
    if (answer) return sendOn(reply, answer);
  });
}

function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const known = handedOn.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(known), 'accept-encoding': 'identity' };
}

function sendOn(reply: FastifyReply, answer: Response): FastifyReply {
  reply.code(answer.status);
  for (const [name, value] of answer.headers) if (!ownHeaders.has(name)) reply.header(name, value);
  return reply.send(answer.body ? Readable.fromWeb(answer.body as ReadableStream) : null);
}

import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { type ScanEvent, watchScan } from '../../../actions/scans/watch-scan.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { scanLogFields } from '../../../domain/scan-origin.ts';
import type { ScanFolder } from '../../../workspace/scan-folder.ts';
import type { TenantContext } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedFolder } from '../pinned-folder.ts';
import { scanIdParams } from '../schema/schemas.ts';

const heartbeatMs = 15_000;

/** Interval at which the token of a stream is checked, milliseconds. */
export const tokenCheckMs = 1000;

const eventHeaders = Type.Object({
  'last-event-id': Type.Optional(Type.String({ description: 'resume after this event' })),
});

export function eventRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/events',
    config: { access: ['scan:read'], streams: true, eventStream: true, atHome: true },
    schema: {
      summary: 'Follow a scan as server-sent events',
      description:
        'Events: status, progress, host, port, finding, warning, end. The stream closes after end, or when its ' +
        'token becomes invalid.',
      params: scanIdParams,
      headers: eventHeaders,
      response: { 200: { content: { 'text/event-stream': { schema: Type.String() } } } },
    },
    handler: async (request, reply) => {
      const afterRow = readLastEventId(request.headers['last-event-id']);
      const { space } = request;
      const scan = await showScan(space.store, request.params.scan_id);
      const folder = await pinnedFolder(request, reply, scan);
      openStream(reply);
      if (request.method !== 'HEAD') {
        const holds = request.tokenHolds;
        await follow(context, { space, scanId: scan.scan_id, folder, afterRow }, reply.raw, holds);
      }
      reply.raw.end();
      return reply;
    },
  });
}

/** @throws PortolanError `invalid_request` for an invalid event id */
function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const reason = 'must be the id of an event';
  throw invalidRequest(`Last-Event-ID ${reason}`, [{ field: 'Last-Event-ID', reason }]);
}

function openStream(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
}

interface Followed {
  space: TenantContext;
  scanId: string;
  folder: ScanFolder;
  afterRow: number;
}

async function follow(
  context: RouteContext,
  { space, scanId, folder, afterRow }: Followed,
  response: ServerResponse,
  tokenHolds: (() => Promise<boolean>) | null,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // Disconnected during the lookup: there will be no further event about it.
  if (response.destroyed) return;
  const signal = AbortSignal.any([gone.signal, context.closing]);
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': alive\n\n');
  }, heartbeatMs);
  const tokenLook = setInterval(() => {
    void tokenHolds?.().then((holds) => holds || gone.abort());
  }, tokenCheckMs);
  const source = context.feeds.follow(space, scanId, folder);
  try {
    for await (const event of watchScan(source, afterRow, signal)) {
      if (!response.write(eventText(event))) await drained(response, signal);
      if (signal.aborted) return;
    }
  } catch (err) {
    if (!signal.aborted) {
      const fields = await space.store.scans.logFieldsOf(scanId).catch(() => scanLogFields(scanId, null));
      context.log.error({ err, ...fields }, 'event stream failed');
    }
  } finally {
    source.close();
    clearInterval(heartbeat);
    clearInterval(tokenLook);
  }
}

function eventText({ event, id, data }: ScanEvent): string {
  const number = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${number}data: ${data}\n\n`;
}

/** Resolves when the client has received pending data, or has disconnected. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.destroyed) return;
  await once(response, 'drain', { signal }).catch(() => undefined);
}

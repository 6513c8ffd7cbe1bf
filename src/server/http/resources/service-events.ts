import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { allows, type TokenScope } from '../../../actions/access/verify-token.ts';
import type { RouteContext } from '../../context.ts';
import { eventText, runText, type StreamEvent, type StreamRun } from '../../events/event-text.ts';
import { followService } from '../../events/follow-service.ts';
import {
  type FollowedScan,
  maxFollowedScans,
  readFollowedScans,
  readPosition,
  type StreamPosition,
} from '../../events/stream-position.ts';
import { tenantFeed } from '../../events/tenant-feed.ts';
import { ScanRecords } from '../../scans/scan-records.ts';
import type { App } from '../app-type.ts';
import { EventStream } from '../event-stream.ts';

/** A client that receives nothing for 4.5 s shows that the server is lost. */
const heartbeat = {
  everyMs: 2000,
  text: () => `event: time\ndata: ${JSON.stringify({ server_time: now() })}\n\n`,
};

const query = Type.Object({
  scan: Type.Optional(
    Type.Array(Type.String({ maxLength: 60 }), {
      maxItems: maxFollowedScans,
      description:
        'id of a scan whose records to follow from now on, or `<id>@<row>`: those after a row, 0 = all; repeatable',
    }),
  ),
});

const headers = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 2048, description: 'resume after this event, without a gap' }),
  ),
});

export function serviceEventRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/events',
    config: { access: ['scan:read'], streams: true, eventStream: true },
    schema: {
      summary: 'Follow the service as server-sent events',
      description:
        'Events: hello, scan, scan_deleted, job, health, alert (with metrics:read), draining, reset (load lists ' +
        'anew), time (every 2 s); of each scan in `scan` also host, port, finding, warning, progress, status, end. ' +
        'The stream closes when its token becomes invalid.',
      querystring: query,
      headers,
      response: { 200: { content: { 'text/event-stream': { schema: Type.String() } } } },
    },
    handler: async (request, reply) => {
      const position = readPosition(request.headers['last-event-id']);
      const scans = readFollowedScans(request.query.scan ?? [], position);
      const stream = new EventStream(request, reply, heartbeat);
      try {
        const isAwaited = request.method !== 'HEAD' && !stream.gone.aborted;
        if (isAwaited) await sendService(context, request, stream, { position, scans });
      } catch (err) {
        if (!stream.gone.aborted) context.log.error({ err, request_id: request.id }, 'event stream failed');
      } finally {
        stream.end();
      }
      return reply;
    },
  });
}

interface Followed {
  position: StreamPosition | null;
  scans: readonly FollowedScan[];
}

async function sendService(
  context: RouteContext,
  { space, token }: FastifyRequest,
  stream: EventStream,
  { position, scans }: Followed,
): Promise<void> {
  const { closing, version, phase } = context;
  const feed = tenantFeed(context, space);
  const leave = await feed.join();
  const watched = setInterval(() => void markWatched(context, space, scans), watchedMs).unref();
  try {
    const events = followService({
      feed,
      position,
      scans,
      records: new ScanRecords(context, space),
      holds: (scope: TokenScope) => token === null || allows(token.scopes, [scope]),
      hello: { server_time: now(), version: version.version, draining: phase === 'draining' },
      gone: stream.gone,
      closing,
    });
    await stream.send(textsOf(events), closing);
  } finally {
    clearInterval(watched);
    leave();
  }
}

async function* textsOf(
  parts: AsyncIterable<StreamEvent | StreamRun>,
): AsyncGenerator<string | Buffer, void, void> {
  for await (const part of parts) yield 'run' in part ? runText(part) : eventText(part);
}

/** Between two marks of a scan as watched, milliseconds. */
const watchedMs = 15_000;

/** While somebody follows a scan, the index that was opened for it follows too. */
async function markWatched(
  { indexes }: RouteContext,
  { store }: FastifyRequest['space'],
  scans: readonly FollowedScan[],
): Promise<void> {
  for (const { scanId } of scans) {
    const scan = await store.scans.get(scanId).catch(() => null);
    if (scan?.status === 'running') indexes.watched(scanId);
  }
}

function now(): string {
  return new Date().toISOString();
}

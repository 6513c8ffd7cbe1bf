import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { FollowedRecord } from '../../../actions/scans/record-reader.ts';
import type { EventRun, RecordPosition } from '../../../actions/scans/watch-scan.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { scanLogFields } from '../../../domain/scan-origin.ts';
import type { RouteContext } from '../../context.ts';
import { plainFrame, runText } from '../../events/event-text.ts';
import { ScanRecords } from '../../scans/scan-records.ts';
import type { App } from '../app-type.ts';
import { EventStream } from '../event-stream.ts';
import { scanIdParams } from '../schema/schemas.ts';

const heartbeat = { everyMs: 15_000, text: () => ': alive\n\n' };

const eventHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ description: 'resume after this event; `end`: only what is new' }),
  ),
});

export function eventRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/events',
    config: { access: ['scan:read'], streams: true, eventStream: true },
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
      const from = readLastEventId(request.headers['last-event-id']);
      const { scan_id } = request.params;
      const leaving = new AbortController();
      reply.raw.once('close', () => leaving.abort());
      const signal = AbortSignal.any([leaving.signal, context.closing]);
      const records = new ScanRecords(context, request.space);
      const followed = await records.follow(scan_id, from, signal);
      try {
        await sendRecord(context, request, reply, followed, leaving);
      } finally {
        followed.close();
      }
      return reply;
    },
  });
}

async function sendRecord(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { events }: FollowedRecord,
  leaving: AbortController,
): Promise<void> {
  const stream = new EventStream(request, reply, heartbeat);
  stream.gone.addEventListener('abort', () => leaving.abort());
  try {
    const isAwaited = request.method !== 'HEAD' && !stream.gone.aborted;
    if (isAwaited) await stream.send(textsOf(events), context.closing);
  } catch (err) {
    if (!stream.gone.aborted && !context.closing.aborted) await logFailure(context, request, err);
  } finally {
    stream.end();
  }
}

async function* textsOf(runs: AsyncIterable<EventRun>): AsyncGenerator<Buffer, void, void> {
  for await (const run of runs) yield runText({ run, frame: plainFrame });
}

async function logFailure({ log }: RouteContext, request: FastifyRequest, err: unknown): Promise<void> {
  const { scan_id } = request.params as { scan_id: string };
  const { scans } = request.space.store;
  const fields = await scans.logFieldsOf(scan_id).catch(() => scanLogFields(scan_id, null));
  log.error({ err, ...fields }, 'event stream failed');
}

/** @throws PortolanError `invalid_request` for an invalid event id */
function readLastEventId(text: string | undefined): RecordPosition {
  if (text === undefined || text === '') return 0;
  if (text === 'end') return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const reason = 'must be the id of an event';
  throw invalidRequest(`Last-Event-ID ${reason}`, [{ field: 'Last-Event-ID', reason }]);
}

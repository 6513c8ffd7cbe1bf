import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { GraphChecker } from '../../../actions/graphs/graph-checker.ts';
import { mapInTurns } from '../../../actions/paging/work-turns.ts';
import { cancelScan } from '../../../actions/scans/cancel-scan.ts';
import { deleteScan } from '../../../actions/scans/delete-scan.ts';
import { listScans } from '../../../actions/scans/list-scans.ts';
import { pauseScan } from '../../../actions/scans/pause-scan.ts';
import { resumeScan } from '../../../actions/scans/resume-scan.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { submitScan } from '../../../actions/scans/submit-scan.ts';
import { publicAddress } from '../../../config/public-url.ts';
import type { Scan } from '../../../domain/scan.ts';
import { scanSorts } from '../../../store/scans/scan-filter.ts';
import { originOf } from '../../access/request-id.ts';
import type { RouteContext } from '../../context.ts';
import { traceScan } from '../../scans/trace-scan.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { envelope, enveloped, sendData } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery, sinceQuery, totalIsMinimum } from '../schema/list-page.ts';
import { resultFiles } from '../schema/result-schema.ts';
import { listedScanSchema, scanIdParams, scanSchema, submissionSchema } from '../schema/schemas.ts';
import { formatOf, resultQuery, sendScanFile } from './results.ts';
import { detailWeight, ScanCache, scanText } from './scan-cache.ts';
import { withSent } from './sent-files.ts';

export const scanListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.String({ description: 'pending (or queued), running, completed, failed' })),
  since: sinceQuery,
  until: Type.Optional(Type.String({ description: 'RFC 3339 time or date; only scans created before' })),
  profile: Type.Optional(Type.String({ maxLength: 64 })),
  sort: Type.Optional(
    Type.String({
      maxLength: 32,
      description: `${scanSorts.join(', ')}; after - for descending. Default: -created_at`,
    }),
  ),
  tag: Type.Optional(Type.String({ maxLength: 64 })),
  q: Type.Optional(Type.String({ maxLength: 255, description: 'substring of the name or of a target' })),
});

export const submissionHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: '^[!-~]{1,255}$',
      description:
        '1 to 255 visible ASCII characters, valid for 24 h. The same key and body return the first response again, with ' +
        'Idempotency-Replayed: true; the same key with another body is a conflict.',
    }),
  ),
});

const listSchema = Type.Object({
  scans: Type.Array(listedScanSchema),
  ...pageMembers,
  total_is_minimum: totalIsMinimum,
});

const acceptedSchema = Type.Object(
  {
    scan_id: Type.String(),
    status: Type.Literal('queued'),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'AcceptedScan' },
);

export function scanRoutes(app: App, context: RouteContext): void {
  const { workers } = context;
  const { server } = context.config;
  const cache = new ScanCache();
  const checker = new GraphChecker();

  app.route({
    method: 'POST',
    url: '/api/v1/scans',
    config: {
      access: ['scan:write', 'scan:execute'],
      refusals: ['conflict', 'queue_full', 'license_required'],
    },
    schema: {
      summary: 'Submit a scan',
      headers: submissionHeaders,
      body: submissionSchema,
      response: { 201: enveloped(acceptedSchema) },
    },
    handler: async (request, reply) => {
      const { submission, ...sent } = await withSent(request, context, checker, true);
      const origin = originOf(request.id, request.headers);
      const { space, unknownFields } = request;
      const order = { ...context, ...space, ...sent, origin, unknownFields, wake: () => workers.wake() };
      const key = request.headers['idempotency-key'] ?? null;
      const { accepted, replayed } = await submitScan(order, submission, request.tokenId, key, request.body);
      if (replayed) reply.header('idempotency-replayed', 'true');
      reply.code(201).header('location', publicAddress(server, `/api/v1/scans/${accepted.scan_id}`));
      return envelope(request, accepted);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/scans',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'List scans, newest first by default',
      querystring: scanListQuery,
      response: { 200: enveloped(listSchema) },
    },
    handler: async (request, reply) => {
      const { store } = request.space;
      const list = await cache.read(
        cacheKey(request, JSON.stringify(request.query)),
        store.version(),
        () => listScans(store, request.query),
        ({ scans }) => scans.length,
      );
      reply.header('link', linkHeader(publicAddress(server, '/api/v1/scans'), request.query, list));
      const { scans, ...place } = list;
      const texts = await mapInTurns(scans, (scan) => scanText(workers.freshenListed(scan)));
      return sendData(request, reply, `{"scans":[${texts.join(',')}],${JSON.stringify(place).slice(1)}`);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id',
    config: { access: ['scan:read'] },
    schema: { summary: 'Show a scan', params: scanIdParams, response: { 200: enveloped(scanSchema) } },
    handler: async (request, reply) => {
      const { store } = request.space;
      const { scan_id } = request.params;
      const scan = await cache.read(
        cacheKey(request, scan_id),
        store.version(),
        () => showScan(store, scan_id),
        detailWeight,
      );
      return sendData(request, reply, scanText(workers.freshen(scan)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/api/v1/scans/:scan_id',
    config: { access: ['scan:write'], refusals: ['conflict'] },
    schema: {
      summary: 'Stop a scan and delete it with its files',
      params: scanIdParams,
      response: { 200: enveloped(Type.Object({ scan_id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async (request) => {
      const { scan_id } = request.params;
      await deleteScan({ ...context, ...request.space }, scan_id);
      context.indexes.forget(scan_id);
      return envelope(request, { scan_id, deleted: true as const });
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/scans/:scan_id/cancel',
    config: { access: ['scan:write', 'scan:execute'], refusals: ['conflict'] },
    schema: {
      summary: 'Cancel a scan; its results stay',
      params: scanIdParams,
      response: { 200: enveloped(scanSchema) },
    },
    handler: async (request) => {
      const { store } = request.space;
      const onEnd = (scan: Scan) => {
        context.metrics.scanEnded(scan);
        void traceScan({ ...context, store }, scan);
      };
      const order = { ...context, ...request.space, onEnd };
      return envelope(request, await cancelScan(order, request.params.scan_id, request.tokenId));
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/scans/:scan_id/pause',
    config: { access: ['scan:write', 'scan:execute'], refusals: ['conflict'] },
    schema: {
      summary: 'Pause a scan',
      params: scanIdParams,
      response: { 200: enveloped(scanSchema) },
    },
    handler: async (request) => {
      const scan = await pauseScan({ workers, ...request.space }, request.params.scan_id, request.tokenId);
      return envelope(request, workers.freshen(scan));
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/scans/:scan_id/resume',
    config: { access: ['scan:write', 'scan:execute'], refusals: ['conflict'] },
    schema: {
      summary: 'Resume a paused scan',
      params: scanIdParams,
      response: { 200: enveloped(scanSchema) },
    },
    handler: async (request) => {
      const scan = await resumeScan({ workers, ...request.space }, request.params.scan_id);
      return envelope(request, workers.freshen(scan));
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/results',
    config: { access: ['scan:read'], streams: true, refusals: ['not_acceptable'] },
    schema: {
      summary: 'Download results',
      params: scanIdParams,
      querystring: resultQuery,
      response: { 200: resultFiles },
    },
    handler: async (request, reply) => {
      const format = formatOf(request);
      const scan = workers.freshen(await showScan(request.space.store, request.params.scan_id));
      return sendScanFile(request, reply, scan, await pinnedRecord(request, reply, scan), format);
    },
  });
}

/** Cache key; ids and queries cannot collide. */
function cacheKey({ space }: FastifyRequest, what: string): string {
  return `${space.tenant ?? ''} ${what}`;
}

import { Type } from 'typebox';
import type { GarbageReport } from '../../actions/collect-garbage.ts';
import { showScan } from '../../actions/show-scan.ts';
import { resultFormats } from '../../actions/stream-results.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { ServerContext } from '../context.ts';
import type { App } from './app-type.ts';
import { envelope, enveloped } from './envelope.ts';
import { resultFiles } from './result-schema.ts';
import { sendResults } from './results.ts';
import { count, nullableText, scanIdParams } from './schemas.ts';

const infoSchema = Type.Object({
  path: Type.String(),
  size_bytes: Type.Integer(),
  scan_count: Type.Integer(),
  oldest_scan: nullableText,
  newest_scan: nullableText,
});

const garbageOrder = Type.Object({
  older_than: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'only scans created longer ago, e.g. `30d`; units ms, s, h, d, w, mo (30 days), y (365 days)',
    }),
  ),
  keep_last: Type.Optional(Type.Integer({ minimum: 0, description: 'the newest so many scans stay' })),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'delete nothing; tell what would go' })),
});

const nullableCount = Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0 });

const garbageMembers = Type.Object({
  dry_run: Type.Boolean(),
  deleted_count: count,
  deleted_scans: Type.Array(Type.String()),
  freed_bytes: count,
  kept_count: count,
  errors: Type.Array(Type.Object({ scan_id: Type.String(), message: Type.String() })),
  policy: Type.Object({
    older_than: nullableText,
    keep_last: nullableCount,
    retention: Type.Optional(
      Type.Object(
        { max_age: nullableText, max_scans: nullableCount, min_free_space: nullableCount },
        { description: 'the configured retention, when it was applied; bytes' },
      ),
    ),
  }),
});

/** Typed as what is answered: the schema's own type knows no optional members that are `undefined`. */
const garbageReport = Type.Unsafe<GarbageReport>(garbageMembers);

const exportQuery = Type.Object({
  format: Type.Optional(Type.String({ default: 'json', description: 'json, jsonl or csv' })),
});

/** Formats of the contract that this build cannot write. */
const laterFormats = ['html', 'pdf', 'tar.gz', 'artifacts'];

export function workspaceRoutes(app: App, { garbage, store, workspace, workers }: ServerContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/workspace/info',
    config: { access: ['workspace:read', 'scan:read'] },
    schema: { summary: 'Place and size of the workspace', response: { 200: enveloped(infoSchema) } },
    handler: async (request) => {
      const { scan_count, oldest, newest, size_bytes } = await store.scans.totals();
      const info = { path: workspace.dir, size_bytes, scan_count, oldest_scan: oldest, newest_scan: newest };
      return envelope(request, info);
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/workspace/gc',
    config: { access: ['workspace:write', 'scan:write'], refusals: ['conflict'] },
    schema: {
      summary: 'Delete old scans; without criteria, apply the configured retention',
      body: garbageOrder,
      response: { 200: enveloped(garbageReport) },
    },
    // No body at all means the same as `{}`.
    preValidation: async (request) => {
      if (request.body === undefined) request.body = {};
    },
    handler: async (request) => envelope(request, await garbage.collect(request.body)),
  });

  app.route({
    method: 'GET',
    url: '/api/v1/workspace/scans/:scan_id/export',
    config: { access: ['workspace:read', 'scan:read'], streams: true, refusals: ['not_implemented'] },
    schema: {
      summary: 'Export a scan as a file',
      params: scanIdParams,
      querystring: exportQuery,
      response: { 200: resultFiles },
    },
    handler: async (request, reply) => {
      const format = exportFormat(request.query.format ?? 'json');
      const scan = workers.freshen(await showScan(store, request.params.scan_id));
      return sendResults(request, reply, scan, workspace.scan(scan.scan_id), format);
    },
  });
}

function exportFormat(text: string) {
  const format = resultFormats.find((known) => known === text);
  if (format) return format;
  if (laterFormats.includes(text))
    throw new PortolanError('not_implemented', `This build cannot export ${text}.`);
  const reason = `must be one of ${[...resultFormats, ...laterFormats].join(', ')}`;
  throw invalidRequest(`format ${reason}`, [{ field: 'format', reason }]);
}

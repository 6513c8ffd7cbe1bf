import { Type } from 'typebox';
import { type ExportFormat, exportFormatOf } from '../../../actions/results/export-scan.ts';
import { checkReportWishes } from '../../../actions/results/report-order.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { GarbageReport } from '../../../actions/workspace/collect-garbage.ts';
import { type Scan, scanIdPattern } from '../../../domain/scan.ts';
import { papers } from '../../../report/report-facts.ts';
import type { ScanFile } from '../../../workspace/result-store/fetched-scans.ts';
import type { RouteContext } from '../../context.ts';
import { orderExport } from '../../results/order-export.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { exportFiles } from '../schema/result-schema.ts';
import { countSchema, nullableText, scanIdParams } from '../schema/schemas.ts';
import { sendScanFile } from './results.ts';

const infoSchema = Type.Object(
  {
    path: Type.String(),
    size_bytes: Type.Integer(),
    scan_count: Type.Integer(),
    oldest_scan: nullableText,
    newest_scan: nullableText,
  },
  { title: 'WorkspaceInfo' },
);

export const garbageRequest = Type.Object(
  {
    older_than: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'only scans older than this, e.g. `30d`; units ms, s, h, d, w, mo (30 days), y (365 days)',
      }),
    ),
    keep_last: Type.Optional(Type.Integer({ minimum: 0, description: 'keep this many of the newest scans' })),
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'report what would be deleted, without deleting' }),
    ),
  },
  { title: 'GarbageRequest' },
);

const nullableCount = Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0 });

const garbageMembers = Type.Object(
  {
    dry_run: Type.Boolean(),
    deleted_count: countSchema,
    deleted_scans: Type.Array(Type.String()),
    freed_bytes: countSchema,
    kept_count: countSchema,
    errors: Type.Array(Type.Object({ scan_id: Type.String(), message: Type.String() })),
    policy: Type.Object({
      older_than: nullableText,
      keep_last: nullableCount,
      retention: Type.Optional(
        Type.Object(
          { max_age: nullableText, max_scans: nullableCount, min_free_space: nullableCount },
          { description: 'the configured retention, if it was applied; sizes in bytes' },
        ),
      ),
    }),
  },
  { title: 'GarbageReport' },
);

/** Typed as the response data: the type of the schema does not allow optional members that are `undefined`. */
const garbageReport = Type.Unsafe<GarbageReport>(garbageMembers);

export const exportQuery = Type.Object({
  format: Type.Optional(
    Type.String({
      default: 'json',
      description:
        'json, jsonl, csv, html, pdf, markdown (reports for people), nmap (XML), sarif, tar.gz (the folder of ' +
        'the scan; alias `artifacts`)',
    }),
  ),
  template: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'html, pdf, markdown: summary (two pages), or a folder in config/templates of the workspace',
    }),
  ),
  against: Type.Optional(
    Type.String({
      pattern: scanIdPattern.source,
      description:
        'html, pdf, markdown: ID of an earlier scan; the report says what changed since. Both must have finished',
    }),
  ),
  paper: Type.Optional(Type.Enum([...papers], { description: 'html, pdf: size of pages; default a4' })),
  fix: Type.Optional(
    Type.Integer({ minimum: 1, description: 'markdown: the number of one fix, for a ticket about it alone' }),
  ),
});

export function workspaceRoutes(app: App, context: RouteContext): void {
  const { garbage, workers, license } = context;
  app.route({
    method: 'GET',
    url: '/api/v1/workspace/info',
    config: { access: ['workspace:read', 'scan:read'] },
    schema: { summary: 'Show location and size of the workspace', response: { 200: enveloped(infoSchema) } },
    handler: async (request) => {
      const { store, workspace } = request.space;
      const { scan_count, oldest, newest, size_bytes } = await store.scans.totals();
      const info = { path: workspace.dir, size_bytes, scan_count, oldest_scan: oldest, newest_scan: newest };
      return envelope(request, info);
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/workspace/gc',
    config: { access: ['workspace:write', 'scan:write'], streams: true, refusals: ['conflict'] },
    schema: {
      summary: 'Delete old scans; without criteria, apply the configured retention',
      body: garbageRequest,
      response: { 200: enveloped(garbageReport) },
    },
    // No body means the same as `{}`.
    preValidation: async (request) => {
      if (request.body === undefined) request.body = {};
    },
    handler: async (request) => envelope(request, await garbage.collect(request.space, request.body)),
  });

  app.route({
    method: 'GET',
    url: '/api/v1/workspace/scans/:scan_id/export',
    config: {
      access: ['workspace:read', 'scan:read'],
      streams: true,
      refusals: ['license_required', 'conflict'],
    },
    schema: {
      summary: 'Export a scan as a file',
      params: scanIdParams,
      querystring: exportQuery,
      response: { 200: exportFiles },
    },
    handler: async (request, reply) => {
      const { format: named = 'json', ...wishes } = request.query;
      const format = exportFormatOf(named, license);
      checkReportWishes(format, wishes);
      const scan = workers.freshen(await showScan(request.space.store, request.params.scan_id));
      const recordOf = (one: Scan) => pinnedRecord(request, reply, one);
      const order = await orderExport(context, { space: request.space, recordOf }, scan, format, wishes);
      const record = await pinnedRecord(request, reply, scan, partOf(format));
      return sendScanFile(request, reply, scan, record, format, order);
    },
  });
}

/** The part of a scan that an export needs. */
export function partOf(format: ExportFormat): ScanFile {
  return format === 'tar.gz' ? 'whole' : 'record';
}

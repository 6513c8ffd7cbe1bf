import { Type } from 'typebox';
import { showScan } from '../../actions/show-scan.ts';
import { resultFormats } from '../../actions/stream-results.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { ServerContext } from '../context.ts';
import type { App } from './app-type.ts';
import { envelope, enveloped } from './envelope.ts';
import { resultFiles } from './result-schema.ts';
import { sendResults } from './results.ts';
import { nullableText, scanIdParams } from './schemas.ts';

const infoSchema = Type.Object({
  path: Type.String(),
  size_bytes: Type.Integer(),
  scan_count: Type.Integer(),
  oldest_scan: nullableText,
  newest_scan: nullableText,
});

const exportQuery = Type.Object({
  format: Type.Optional(Type.String({ default: 'json', description: 'json, jsonl or csv' })),
});

/** Formats of the contract that this build cannot write. */
const laterFormats = ['html', 'pdf', 'tar.gz', 'artifacts'];

export function workspaceRoutes(app: App, { store, workspace, workers }: ServerContext): void {
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

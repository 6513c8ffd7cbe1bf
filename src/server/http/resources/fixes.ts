import { Type } from 'typebox';
import { type FixPage, listFixes } from '../../../actions/results/list-fixes.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { publicAddress } from '../../../config/public-url.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { abortSignal } from '../response-deadline.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { fixSchema } from '../schema/fix-schema.ts';
import { linkHeader, pageMembers, pageQuery } from '../schema/list-page.ts';
import { scanIdParams } from '../schema/schemas.ts';
import { indexShareSchema, queryText } from './records.ts';

const fixMembers = Type.Object({
  fixes: Type.Array(fixSchema),
  ...pageMembers,
  index_share: indexShareSchema,
});

export function fixRoutes(app: App, { config, indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/fixes',
    config: { access: ['scan:read'], refusals: ['timeout'] },
    schema: {
      summary: 'List what removes the findings of a scan',
      description: 'Findings grouped by the action that removes them, worst first, as in a report.',
      params: scanIdParams,
      querystring: Type.Object({ ...pageQuery, q: queryText }),
      response: { 200: enveloped(Type.Unsafe<FixPage>(fixMembers)) },
    },
    handler: async (request, reply) => {
      const scan = await showScan(request.space.store, request.params.scan_id);
      const record = await pinnedRecord(request, reply, scan);
      const page = await listFixes(scan, record, request.query, indexes, abortSignal(request));
      const address = publicAddress(config.server, `/api/v1/scans/${scan.scan_id}/fixes`);
      reply.header('link', linkHeader(address, request.query, page));
      return envelope(request, page);
    },
  });
}

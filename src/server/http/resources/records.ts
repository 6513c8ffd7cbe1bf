import { Type } from 'typebox';
import { listRecords, type RecordList } from '../../../actions/results/list-records.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { publicAddress } from '../../../config/public-url.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedFolder } from '../pinned-folder.ts';
import { enveloped, sendData } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery } from '../schema/list-page.ts';
import { recordSchema } from '../schema/record-schema.ts';
import { scanIdParams, warningSchema } from '../schema/schemas.ts';

const recordMembers = Type.Object({
  records: Type.Array(recordSchema),
  ...pageMembers,
  partial: Type.Boolean({ description: 'the records are incomplete' }),
  warnings: Type.Array(warningSchema, {
    description: '`record_damaged`: rows were lost',
  }),
});

export function recordRoutes(app: App, { config }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/records',
    config: { access: ['scan:read'], abortable: true, atHome: true },
    schema: {
      summary: 'List the records of a scan',
      description:
        'Errors first, then compliance results, then extra values of plugins, then hosts by address, each followed by its ports and their findings. While a scan runs, ' +
        'new records may appear on earlier pages; those of an ended scan are stable.',
      params: scanIdParams,
      querystring: Type.Object(pageQuery),
      response: { 200: enveloped(Type.Unsafe<RecordList>(recordMembers)) },
    },
    handler: async (request, reply) => {
      const scan = await showScan(request.space.store, request.params.scan_id);
      const { scan_id } = scan;
      const folder = await pinnedFolder(request, reply, scan);
      const list = await listRecords(scan, folder, request.query, request.space.observer, request.signal);
      const address = publicAddress(config.server, `/api/v1/scans/${scan_id}/records`);
      reply.header('link', linkHeader(address, request.query, list));
      return sendData(request, reply, JSON.stringify(list));
    },
  });
}

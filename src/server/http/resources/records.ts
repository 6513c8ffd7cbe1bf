import { Type } from 'typebox';
import { listRecords, type RecordList } from '../../../actions/results/list-records.ts';
import { needsIndex, queryRecords } from '../../../actions/results/query-records.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { publicAddress } from '../../../config/public-url.ts';
import { sortFields } from '../../../workspace/record-index/sort-keys.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { abortSignal } from '../response-deadline.ts';
import { enveloped, sendData } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery } from '../schema/list-page.ts';
import { recordSchema, recordTypes } from '../schema/record-schema.ts';
import { countSchema, scanIdParams, warningSchema } from '../schema/schemas.ts';

/** Query parameter of everything that takes a query. */
export const queryText = Type.Optional(
  Type.String({ description: 'query such as `port:443 severity:>=high`, see docs/queries.md' }),
);

export const matchesSchema = Type.Object(
  { hosts: countSchema, ports: countSchema, findings: countSchema },
  {
    title: 'Matches',
    description: 'number of hosts, ports and findings that satisfy `q`',
  },
);

/** Of responses that an index gives before all of the record is in it. */
export const indexShareSchema = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'present while the index of a large record, or of a scan that has just ended, is being built: the part that it ' +
      'has. What is counted is then what the summary, or the scan while it ran, knew; repeat the request',
  }),
);

const recordMembers = Type.Object({
  records: Type.Array(recordSchema),
  ...pageMembers,
  /** Absent without `q`, `type` and `sort`. */
  matches: Type.Optional(matchesSchema),
  index_share: indexShareSchema,
  partial: Type.Boolean({ description: 'the records are incomplete' }),
  warnings: Type.Array(warningSchema, {
    description: '`record_damaged`: rows were lost',
  }),
});

const sortText = Object.entries(sortFields)
  .map(([type, fields]) => `${type}: ${fields.join(', ')}`)
  .join('; ');

export function recordRoutes(app: App, { config, indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/records',
    config: { access: ['scan:read'], refusals: ['timeout'] },
    schema: {
      summary: 'List the records of a scan',
      description:
        'Errors first, then compliance results, then extra values of plugins, then hosts by address, each followed by its ports and their findings. While a scan runs, ' +
        'new records may appear on earlier pages; those of an ended scan are stable. A record belongs to the list if ' +
        'one tuple of host, port and finding that it is part of satisfies the whole query.',
      params: scanIdParams,
      querystring: Type.Object({
        ...pageQuery,
        type: Type.Optional(Type.Enum([...recordTypes])),
        q: queryText,
        sort: Type.Optional(
          Type.String({
            maxLength: 200,
            description: `comma list of fields, \`-\` for descending; ${sortText}`,
          }),
        ),
        join: Type.Optional(
          Type.Enum(['ports'], {
            description: 'of findings: equal ones of a host are one record, the first, with their `ports`',
          }),
        ),
      }),
      response: { 200: enveloped(Type.Unsafe<RecordList>(recordMembers)) },
    },
    handler: async (request, reply) => {
      const scan = await showScan(request.space.store, request.params.scan_id);
      const { scan_id } = scan;
      const record = await pinnedRecord(request, reply, scan);
      const { observer } = request.space;
      const address = publicAddress(config.server, `/api/v1/scans/${scan_id}/records`);
      if (!needsIndex(request.query)) {
        const list = await listRecords(scan, record, request.query, observer, abortSignal(request));
        reply.header('link', linkHeader(address, request.query, list));
        return sendData(request, reply, JSON.stringify(list));
      }
      const list = await queryRecords(scan, record, request.query, indexes, observer, abortSignal(request));
      reply.header('link', linkHeader(address, request.query, list));
      const { records, ...place } = list;
      return sendData(request, reply, `{"records":${records},${JSON.stringify(place).slice(1)}`);
    },
  });
}

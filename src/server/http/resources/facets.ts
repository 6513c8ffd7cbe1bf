import { Type } from 'typebox';
import {
  defaultFacetLimit,
  type FacetList,
  listFacets,
  maxFacetLimit,
} from '../../../actions/results/list-facets.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { defaultFacets, facetFields } from '../../../workspace/record-index/facets.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { abortSignal } from '../response-deadline.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { countSchema, scanIdParams } from '../schema/schemas.ts';
import { indexShareSchema, matchesSchema, queryText } from './records.ts';

const facetMembers = Type.Object({
  facets: Type.Array(
    Type.Object({
      field: Type.Enum([...facetFields]),
      values: Type.Array(
        Type.Object({
          value: Type.Unsafe<string | number | boolean>({
            type: ['string', 'number', 'boolean'],
            description: 'as it is written in a query',
          }),
          count: countSchema,
        }),
        { description: 'most frequent first' },
      ),
      more: Type.Integer({ minimum: 0, description: 'further values' }),
    }),
  ),
  matches: matchesSchema,
  index_share: indexShareSchema,
});

export function facetRoutes(app: App, { indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/facets',
    config: { access: ['scan:read'], refusals: ['timeout'] },
    schema: {
      summary: 'Count the values of fields in the records of a scan',
      description:
        'Counts hosts, ports or findings by the values of their fields, `host` by its ports, among the records that ' +
        'satisfy the query. The conditions of the query on a field do not narrow the values of that field.',
      params: scanIdParams,
      querystring: Type.Object({
        q: queryText,
        fields: Type.Optional(
          Type.String({
            maxLength: 400,
            description: `comma list of ${facetFields.join(', ')}; default ${defaultFacets.join(',')}`,
          }),
        ),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            default: defaultFacetLimit,
            description: `values per field, 1 to ${maxFacetLimit}; higher values count as ${maxFacetLimit}`,
          }),
        ),
      }),
      response: { 200: enveloped(Type.Unsafe<FacetList>(facetMembers)) },
    },
    handler: async (request, reply) => {
      const scan = await showScan(request.space.store, request.params.scan_id);
      const record = await pinnedRecord(request, reply, scan);
      const list = await listFacets(scan, record, request.query, indexes, abortSignal(request));
      return envelope(request, list);
    },
  });
}

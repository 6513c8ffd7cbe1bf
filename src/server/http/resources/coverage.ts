import { Type } from 'typebox';
import { type ShownCoverage, showCoverage } from '../../../actions/results/show-coverage.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { abortSignal } from '../response-deadline.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { countSchema, scanIdParams } from '../schema/schemas.ts';
import { indexShareSchema } from './records.ts';

const portSums = Type.Object(
  {
    planned: countSchema,
    open: countSchema,
    closed: countSchema,
    filtered: countSchema,
    not_tried: countSchema,
  },
  { title: 'PortSums' },
);

const note = Type.Object(
  { code: Type.String(), where: Type.String(), message: Type.String() },
  { title: 'CoverageNote' },
);

const notes = (description: string) => Type.Array(note, { description });

const coverageSchema = Type.Object({
  text: Type.String({ description: 'the numbers in one or two sentences' }),
  complete: Type.Boolean({ description: 'every host was probed' }),
  evaluated: Type.Boolean({ description: 'vulnerabilities were evaluated' }),
  partial: Type.Boolean(),
  addresses: Type.Object({
    requested: countSchema,
    responded: countSchema,
    silent: countSchema,
    excluded: countSchema,
  }),
  ports: Type.Union([Type.Null(), Type.Object({ all: portSums, tcp: portSums, udp: portSums })], {
    description: 'planned pairs of host and port by outcome; null if no scanner counts them',
  }),
  unfinished: Type.Array(
    Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      protocol: Type.String(),
      stage: Type.String(),
      missing: Type.String(),
    }),
    { description: 'services that were not read to their end, at most 200' },
  ),
  unfinished_left: countSchema,
  all_ports_open: Type.Array(Type.String(), {
    description: 'hosts that accept connections on nearly every port, at most 100',
  }),
  warnings: notes('of the scan, at most 200'),
  warnings_left: countSchema,
  errors: notes('targets and stages, at most 200'),
  errors_left: countSchema,
  index_share: indexShareSchema,
});

export function coverageRoutes(app: App, { indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/coverage',
    config: { access: ['scan:read'], refusals: ['timeout'] },
    schema: {
      summary: 'Show what a scan has looked at',
      description:
        'Addresses and ports by outcome, and what is missing, as in a report. While a scan runs, so far.',
      params: scanIdParams,
      response: { 200: enveloped(Type.Unsafe<ShownCoverage>(coverageSchema)) },
    },
    handler: async (request, reply) => {
      const { store, installed, observer } = request.space;
      const scan = await showScan(store, request.params.scan_id);
      const record = await pinnedRecord(request, reply, scan);
      const coverage = await showCoverage(scan, record, installed, indexes, observer, abortSignal(request));
      return envelope(request, coverage);
    },
  });
}

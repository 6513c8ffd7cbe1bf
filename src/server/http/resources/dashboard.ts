import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Dashboard, type DashboardContext, Dashboards } from '../../../actions/dashboard/dashboards.ts';
import { severities } from '../../../domain/finding.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { fixSchema } from '../schema/fix-schema.ts';
import { countSchema, listedScanSchema, nullableText } from '../schema/schemas.ts';

const nullableNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] });
const severity = Type.Enum([...severities]);

const seriesSchema = Type.Object(
  {
    key: Type.String(),
    name: nullableText,
    targets: Type.Array(Type.String()),
    scan: listedScanSchema,
    previous: Type.Unsafe<string | null>({ ...nullableText, description: 'id of its baseline' }),
    changes: Type.Union([
      Type.Null(),
      Type.Object(
        { new: countSchema, fixed: countSchema, changed: countSchema, not_comparable: countSchema },
        {
          description:
            'findings that are new and fixed, services that changed, hosts that are not comparable',
        },
      ),
    ]),
    stands_out: Type.Union([
      Type.Null(),
      Type.Object({
        severity: Type.Union([Type.Null(), severity]),
        text: Type.String(),
        exploited: Type.Boolean(),
      }),
    ]),
    pending: Type.Boolean({ description: 'the comparison is being computed' }),
  },
  { title: 'ScanSeries' },
);

const totalSchema = Type.Object(
  {
    count: Type.Unsafe<number | null>({ ...nullableNumber, description: 'null while pending' }),
    change: Type.Unsafe<number | null>({
      ...nullableNumber,
      description: 'new less fixed findings since the previous runs; null while pending',
    }),
    hosts: Type.Unsafe<number | null>({ ...nullableNumber, description: 'null while pending' }),
  },
  { title: 'SeverityTotal' },
);

/** Typed as the response data: a scan is sent as it is stored. */
const dashboardSchema = Type.Unsafe<Dashboard>(
  Type.Object({
    series: Type.Array(seriesSchema, {
      description:
        'completed scans of one name, else of the same targets, ports, profile and evaluation: the six with the newest runs',
    }),
    totals: Type.Object(Object.fromEntries(severities.map((name) => [name, totalSchema]))),
    counted: Type.Object(
      {
        scans: countSchema,
        addresses: Type.Number({ minimum: 0 }),
        names: Type.Integer({ minimum: 0, description: 'targets that are names' }),
        oldest: Type.Unsafe<string | null>({
          ...nullableText,
          description: 'when the oldest of these runs ended',
        }),
      },
      { description: 'what `totals` count: each address once, by its newest evaluated run' },
    ),
    trend: Type.Array(
      Type.Object({ date: Type.String({ format: 'date' }), critical: countSchema, high: countSchema }),
      { description: 'open findings at the end of each of the last 30 days, from the first run on' },
    ),
    fixes: Type.Array(
      Type.Object({
        ...fixSchema.properties,
        scan_id: Type.String({ description: 'the scan with most of its findings' }),
      }),
      { description: 'the first three of the latest runs together' },
    ),
    not_comparable: Type.Integer({ minimum: 0, description: 'hosts' }),
    pending: Type.Boolean({ description: 'some values are being computed: request it again' }),
  }),
);

export function dashboardRoutes(app: App, context: RouteContext): void {
  const dashboards = new Dashboards(context.closing, (err) =>
    context.log.debug({ err }, 'cannot compute a value of a dashboard'),
  );

  app.route({
    method: 'GET',
    url: '/api/v1/dashboard',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show what is open and what changed',
      description:
        'Of the latest completed run of each series of scans. Runs are compared in the background; `pending` says ' +
        'which values are not known yet.',
      response: { 200: enveloped(dashboardSchema) },
    },
    handler: async (request) => envelope(request, await dashboards.show(contextOf(request, context))),
  });
}

function contextOf({ space }: FastifyRequest, context: RouteContext): DashboardContext {
  const { tenant, store, observer } = space;
  return {
    config: context.config,
    tenant,
    store,
    observer,
    records: space.records,
    get installed() {
      return space.installed;
    },
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Explanation, PortEndpoint } from '../../../actions/results/explain-port.ts';
import { explainScan } from '../../../actions/results/explain-scan.ts';
import { indexedHost, type ScanSilence, scanSilence } from '../../../actions/results/scan-silence.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { Scan } from '../../../domain/scan.ts';
import { openResults } from '../../../scan-run/results/open-results.ts';
import type { ScanRecord } from '../../../workspace/record/scan-record.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { abortSignal } from '../response-deadline.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { countSchema, nullableText, scanIdParams } from '../schema/schemas.ts';

const openObject = Type.Object({}, { additionalProperties: true });
const ruleSchema = Type.Object({ id: Type.String(), source: nullableText, pattern: nullableText });
const placeSchema = Type.Object({ from: countSchema, to: countSchema });
const systemSchema = Type.Object(
  {
    family: Type.Optional(nullableText),
    distribution: Type.Optional(nullableText),
    version: Type.Optional(nullableText),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { additionalProperties: true },
);

const claimSchema = Type.Object(
  {
    match: Type.String({ description: 'service name' }),
    product: nullableText,
    vendor: nullableText,
    version: nullableText,
    cpe: nullableText,
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    source: Type.String({ description: 'what the claim is read from: `banner`, `http`, `tls` ...' }),
    evidence: Type.String(),
    outcome: Type.Enum(['chosen', 'kept beside']),
    reason: Type.String(),
    rule: Type.Union([Type.Null(), ruleSchema], { description: 'null for the protocol itself' }),
    matched: Type.Union([Type.Null(), placeSchema], {
      description: 'bytes of the banner that the evidence is; null if it is not a part of it',
    }),
  },
  { title: 'ExplainedClaim', additionalProperties: true },
);

const findingSchema = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    rank: Type.String({ description: 'why it has its rank' }),
    reasons: Type.Array(Type.String(), { description: 'why it has its confidence' }),
  },
  { title: 'ExplainedFinding', additionalProperties: true, description: 'all fields of a finding' },
);

const plannedProbes = Type.Array(
  Type.Object(
    {
      kind: Type.Enum(['icmp', 'arp', 'tcp', 'udp', 'other']),
      ports: Type.Array(Type.Integer()),
      times: Type.Integer({ description: 'how often a probe without response is sent' }),
      timeout: Type.String(),
    },
    { title: 'PlannedProbes' },
  ),
);
const probesSchema = Type.Object({ discovery: plannedProbes, ports: plannedProbes }, { title: 'ProbePlan' });

const explanationSchema = Type.Object({
  scan_id: Type.String(),
  host: Type.String(),
  os: Type.Union([Type.Null(), systemSchema], { description: 'operating system' }),
  ports: Type.Array(
    Type.Object({
      port: Type.Integer(),
      protocol: Type.String(),
      state: Type.String(),
      reason: Type.String(),
      banner: nullableText,
      banner_b64: nullableText,
      truncated: Type.Boolean(),
      tls: Type.Union([Type.Null(), openObject]),
      sites: Type.Array(Type.String(), {
        description: 'further names that were requested, with their pages and certificates',
      }),
      claims: Type.Array(claimSchema, { description: 'about the product; the chosen one first' }),
      findings: Type.Array(findingSchema),
    }),
  ),
  findings: Type.Array(findingSchema, { description: 'without a port' }),
  left_out: countSchema,
  silence: Type.Union(
    [
      Type.Null(),
      Type.Object(
        {
          state: Type.String(),
          reason: Type.Optional(Type.String()),
          errors: Type.Optional(Type.Array(Type.String(), { description: 'ICMP errors about the host' })),
        },
        { title: 'Silence' },
      ),
    ],
    {
      description:
        'of a host without ports, what their silence means: `not_tried` with a reason, `filtered`, `closed`, ' +
        '`closed_or_filtered`; else null',
    },
  ),
  probes: Type.Union([Type.Null(), probesSchema], {
    description: 'what the scan sent; null without silence',
  }),
});

/** What an explanation has beside what a record has. */
type ShownExplanation = Explanation & (ScanSilence | { silence: null; probes: null });

export function explainRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/explain',
    config: { access: ['scan:read'], refusals: ['timeout'] },
    schema: {
      summary: 'Explain a host or a port of a scan',
      description:
        'From what was received to the claims about the product, the rules behind them, and the findings with their ' +
        'reasons. At most 256 ports and 10,000 findings of a host. A 404 for a host or a port without results says in ' +
        '`details.silence` and `details.probes` whether the scan tried it, and how.',
      params: scanIdParams,
      querystring: Type.Object({
        host: Type.String({ minLength: 1, maxLength: 255, description: 'address or name' }),
        port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
        protocol: Type.Optional(Type.Enum(['tcp', 'udp'], { description: 'both without it' })),
      }),
      response: { 200: enveloped(Type.Unsafe<ShownExplanation>(explanationSchema)) },
    },
    handler: async (request, reply) => {
      const { host, port = null, protocol = null } = request.query;
      const scan = await showScan(request.space.store, request.params.scan_id);
      const place = { host, port, protocol };
      return envelope(request, await explain(context, { scan, place, request, reply }));
    },
  });
}

interface ExplainOrder {
  scan: Scan;
  place: PortEndpoint;
  request: FastifyRequest;
  reply: FastifyReply;
}

async function explain(context: RouteContext, order: ExplainOrder): Promise<ShownExplanation> {
  const { config, indexes } = context;
  const { scan, place, request, reply } = order;
  const record = await pinnedRecord(request, reply, scan);
  try {
    const explanation = await explainScan(scan, record, place, config, indexes, abortSignal(request));
    const isSilent = place.port === null && explanation.ports.length === 0;
    const silence = isSilent ? await silenceIn(context, order, record) : null;
    return { ...explanation, ...(silence ?? { silence: null, probes: null }) };
  } catch (error) {
    if (!(error instanceof PortolanError && error.code === 'not_found')) throw error;
    throw new PortolanError('not_found', error.message, { ...(await silenceIn(context, order, record)) });
  }
}

/** Null for a scan whose submission is lost. */
async function silenceIn(
  { config, indexes }: RouteContext,
  { scan, place, request }: ExplainOrder,
  record: ScanRecord,
): Promise<ScanSilence | null> {
  const { store, installed, observer } = request.space;
  const submission = await store.scans.request(scan.scan_id);
  if (submission === null) return null;
  const results = await openResults(scan, record, observer, 'behind-page');
  await results.close();
  const damaged = results.damage !== null;
  const input = { scan, request: submission, record, config, catalogue: installed, damaged };
  const host = await indexedHost(input, place.host, indexes, abortSignal(request));
  return await scanSilence(input, host, place);
}

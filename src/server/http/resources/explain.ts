import { Type } from 'typebox';
import type { Explanation } from '../../../actions/results/explain-port.ts';
import { explainScan } from '../../../actions/results/explain-scan.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
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
      claims: Type.Array(claimSchema, { description: 'about the product; the chosen one first' }),
      findings: Type.Array(findingSchema),
    }),
  ),
  findings: Type.Array(findingSchema, { description: 'without a port' }),
  left_out: countSchema,
});

export function explainRoutes(app: App, { config, indexes }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/explain',
    config: { access: ['scan:read'], abortable: true, atHome: true, refusals: ['timeout'] },
    schema: {
      summary: 'Explain a host or a port of a scan',
      description:
        'From what was received to the claims about the product, the rules behind them, and the findings with their ' +
        'reasons. At most 256 ports and 10,000 findings of a host.',
      params: scanIdParams,
      querystring: Type.Object({
        host: Type.String({ minLength: 1, maxLength: 255, description: 'address or name' }),
        port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
        protocol: Type.Optional(Type.Enum(['tcp', 'udp'], { description: 'both without it' })),
      }),
      response: { 200: enveloped(Type.Unsafe<Explanation>(explanationSchema)) },
    },
    handler: async (request, reply) => {
      const { host, port = null, protocol = null } = request.query;
      const scan = await showScan(request.space.store, request.params.scan_id);
      const record = await pinnedRecord(request, reply, scan);
      const endpoint = { host, port, protocol };
      return envelope(request, await explainScan(scan, record, endpoint, config, indexes, request.signal));
    },
  });
}

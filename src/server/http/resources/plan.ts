import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { GraphChecker } from '../../../actions/graphs/graph-checker.ts';
import { previewScan, type ScanPreview } from '../../../actions/scans/preview-scan.ts';
import { newScanId } from '../../../domain/scan.ts';
import { checkEgress } from '../../../scan-run/egress-choice.ts';
import { decideRequest } from '../../../scan-run/plan/decide-request.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import {
  countSchema,
  nullableText,
  packetRateSchema,
  submissionSchema,
  warningSchema,
} from '../schema/schemas.ts';
import { withSent } from './sent-files.ts';

const previewMembers = Type.Object(
  {
    graph: Type.String(),
    profile: Type.String(),
    vuln: Type.Boolean(),
    targets: Type.Array(Type.String()),
    target_list: Type.Array(
      Type.Object({
        target: Type.String(),
        kind: Type.Enum(['target', 'excluded', 'blocked', 'out_of_scope']),
        addresses: Type.Number({ minimum: 0, description: 'a host name counts as one' }),
        note: nullableText,
      }),
      { description: 'targets, then what is left out of them and why: the first 200' },
    ),
    target_list_left: countSchema,
    addresses: Type.Number({
      minimum: 0,
      description: 'addresses to scan after exclusions and scope, not counting host names',
    }),
    hostnames: countSchema,
    excluded: Type.Number({
      minimum: 0,
      description: 'addresses removed by exclusions, blocklist and scope',
    }),
    ports: Type.Object({ tcp: countSchema, udp: countSchema }),
    rate: packetRateSchema,
    packets_estimate: Type.Number({ minimum: 0, description: 'upper bound, for discovery and ports' }),
    duration_estimate_seconds: Type.Number({
      minimum: 0,
      description: 'upper bound for these packets, without any response',
    }),
    duration_estimate_basis: Type.String({
      description: 'what the upper bounds assume, and what limits the speed; in words',
    }),
    packets_probable: Type.Number({ minimum: 0, description: 'if 1 address in 10 is up, or all of a few' }),
    duration_probable: Type.Object(
      {
        seconds: Type.Number({ minimum: 0 }),
        basis: Type.String({ description: 'in words' }),
        scan_id: Type.Union([Type.Null(), Type.String()], {
          description: 'the scan that it was taken from; null if it is computed from the plan',
        }),
      },
      { description: 'as the newest completed scan of the same request took, else computed' },
    ),
    nodes: Type.Array(
      Type.Object({
        instance_id: Type.String(),
        module_type: Type.String(),
        depends_on: Type.Array(Type.String()),
        skipped: nullableText,
        options: Type.Object({}, { additionalProperties: true }),
      }),
    ),
    warnings: Type.Array(warningSchema),
  },
  { title: 'ScanPlan' },
);

/** Typed as the response data: the type of the schema does not allow optional members that are `undefined`. */
const previewSchema = Type.Unsafe<ScanPreview>(previewMembers);

export function planRoutes(app: App, context: RouteContext): void {
  const checker = new GraphChecker();
  app.route({
    method: 'POST',
    url: '/api/v1/scans/plan',
    config: { access: ['scan:write', 'scan:execute'], refusals: ['license_required'] },
    schema: {
      summary: 'Preview a scan',
      description: 'Validates a scan request and returns its plan. Nothing is sent, stored or resolved.',
      body: submissionSchema,
      response: { 200: enveloped(previewSchema) },
    },
    handler: async (request) => {
      const { config } = context;
      const { store } = request.space;
      const { installed, choices, submission } = await withSent(request, context, checker, false);
      const createdAt = new Date();
      const { tokenId: user, unknownFields } = request;
      const origin = { scanId: newScanId(createdAt, randomBytes), createdAt, user, unknownFields };
      const decided = decideRequest(submission, config, choices, origin);
      checkEgress(decided.request, config);
      return envelope(request, await previewScan(decided, config, installed, store));
    },
  });
}

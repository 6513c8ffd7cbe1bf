import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Comparison, compareScans, renderComparison } from '../../../actions/results/compare-scans.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { type Scan, scanIdPattern } from '../../../domain/scan.ts';
import type { Baseline } from '../../../store/scans/baseline.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pinnedRecord } from '../pinned-record.ts';
import { envelope, enveloped, metaOf } from '../schema/envelope.ts';
import { findingSchema } from '../schema/record-schema.ts';
import { countSchema, nullableText, scanIdParams } from '../schema/schemas.ts';

const diffQuery = Type.Object({
  against: Type.String({
    pattern: scanIdPattern.source,
    description: 'id of the baseline scan: changes are from it to the scan of the path',
  }),
});

const host = Type.String();
const port = Type.Integer({ minimum: 1, maximum: 65_535 });
const protocol = Type.Enum(['tcp', 'udp']);
const portState = {
  state: Type.String(),
  service: nullableText,
  product: nullableText,
  version: nullableText,
};
const stateSchema = Type.Object(portState, { title: 'PortState' });
const listedPort = Type.Object({ host, port, protocol, ...portState }, { title: 'ListedPort' });
const listedFinding = Type.Object(
  {
    host,
    port: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    protocol: nullableText,
    vulnerability: findingSchema,
    by_new_check: Type.Optional(
      Type.Literal(true, { description: 'a check found it that the baseline did not have' }),
    ),
  },
  { title: 'ListedFinding' },
);

const diffSchema = Type.Object(
  {
    scan_id: Type.String(),
    against: Type.String(),
    hosts: Type.Object({
      added: Type.Array(host),
      removed: Type.Array(host),
      moved: Type.Optional(
        Type.Array(
          Type.Object({
            before: host,
            after: host,
            by: Type.Array(Type.Object({ kind: Type.String(), value: Type.String() })),
          }),
          {
            description: 'removed hosts found again under an added address, with their ports and findings',
          },
        ),
      ),
    }),
    ports: Type.Object({
      added: Type.Array(listedPort),
      removed: Type.Array(listedPort),
      changed: Type.Array(Type.Object({ host, port, protocol, before: stateSchema, after: stateSchema })),
    }),
    vulnerabilities: Type.Object({
      new: Type.Array(listedFinding),
      resolved: Type.Array(listedFinding),
      unchanged_count: countSchema,
    }),
    not_comparable: Type.Array(
      Type.Object({
        host,
        port: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
        protocol: nullableText,
        reason: Type.Enum(['out_of_scope', 'partial', 'port_not_planned', 'not_evaluated', 'record_damaged']),
        missing_in: Type.String({ description: 'the scan that could not find it' }),
      }),
      { description: 'items of one scan that the other could not find; without a port, a whole host' },
    ),
  },
  { title: 'ScanDiff' },
);

const baselineSchema = Type.Object({
  baseline: Type.Unsafe<Baseline | null>({
    anyOf: [
      Type.Object(
        {
          scan_id: Type.String(),
          name: nullableText,
          created_at: Type.String(),
          completed_at: nullableText,
        },
        { title: 'Baseline' },
      ),
      Type.Null(),
    ],
  }),
});

export function diffRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/baseline',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show what a scan is compared with unasked',
      description:
        'The last completed scan before it of the same name, else of the same targets, ports, profile and evaluation; ' +
        'null without one.',
      params: scanIdParams,
      response: { 200: enveloped(baselineSchema) },
    },
    handler: async (request) => {
      const { store } = request.space;
      const { scan_id } = await showScan(store, request.params.scan_id);
      return envelope(request, { baseline: await store.scans.baselineOf(scan_id) });
    },
  });
  app.route({
    method: 'GET',
    url: '/api/v1/scans/:scan_id/diff',
    config: { access: ['scan:read'], streams: true, refusals: ['conflict'] },
    schema: {
      summary: 'Compare two finished scans',
      description:
        'Additions, removals and changes since the baseline. An unfinished scan is a conflict. Items that a scan ' +
        'could not find are not comparable: outside its targets or ports, not evaluated, not reached by a ' +
        'failed scan, or missing from a damaged record.',
      params: scanIdParams,
      querystring: diffQuery,
      // For the description only: the response is streamed.
      response: { 200: { content: { 'application/json': { schema: enveloped(diffSchema) } } } },
    },
    handler: async (request, reply) => {
      const { store, installed, observer } = request.space;
      const { against } = request.query;
      const recordOf = (scan: Scan) => pinnedRecord(request, reply, scan);
      const order = { store, config: context.config, catalogue: installed, recordOf, observer };
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const { signal } = gone;
      try {
        const comparison = await compareScans(order, request.params.scan_id, against, signal);
        return send(comparison, request, reply);
      } catch (error) {
        // The client is gone.
        if (signal.aborted) return reply.hijack();
        throw error;
      }
    },
  });
}

function send(comparison: Comparison, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('content-type', 'application/json; charset=utf-8');
  const body = request.method === 'HEAD' ? [] : response(comparison, request);
  return reply.send(Readable.from(body, { objectMode: false }));
}

async function* response(comparison: Comparison, request: FastifyRequest): AsyncIterable<string> {
  yield '{"data":';
  yield* renderComparison(comparison);
  yield `,"meta":${JSON.stringify(metaOf(request))}}\n`;
}

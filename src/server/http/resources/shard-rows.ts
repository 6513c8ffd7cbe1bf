import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { PortolanError } from '../../../domain/errors.ts';
import { scanIdPattern } from '../../../domain/scan.ts';
import type { RouteContext } from '../../context.ts';
import { rowLines, type ShardCredentials, type ShardIngest } from '../../shards/shard-ingest.ts';
import type { App } from '../app-type.ts';

/** Maximum size of a body, bytes: a block of the record, 1 MiB, plus one row. */
const maxRowsBytes = 4 * 1024 * 1024;
/** Maximum size of a checkpoint, bytes: one bit per pair of host and port that is not done. */
const maxCheckpointBytes = 64 * 1024 * 1024;

interface ShardPath {
  scan_id: string;
  shard: string;
  first?: string;
}

/**
 * Upload routes of workers. Not part of the API: a request needs the key of its shard, which only readers of the queue
 * know.
 */
export function shardRowRoutes(app: App, { shards }: RouteContext): void {
  if (!shards) return;
  const intakeOf = (request: FastifyRequest): { intake: ShardIngest; sender: ShardCredentials } => {
    const sender = senderOf(request);
    const intake = shards.intakes.get(sender.scanId);
    // The server has just started and does not run this scan yet, or the scan has ended.
    if (!intake) throw new PortolanError('unavailable', 'The scan does not accept rows now; try again.');
    return { intake, sender };
  };
  // A body is read only after the key has been checked, and only up to its limit.
  const admit = async (request: FastifyRequest) => {
    const { intake, sender } = intakeOf(request);
    await intake.admit(sender);
  };
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      ['application/x-ndjson', 'application/octet-stream'],
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: string | Buffer) => body,
    );
    const open = { config: { access: 'open' as const }, schema: { hide: true } };

    scope.route({
      method: 'GET',
      url: '/internal/shards/:scan_id/:shard/rows',
      ...open,
      handler: async (request, reply) => {
        const { intake, sender } = intakeOf(request);
        const { rows, stream } = await intake.rows(sender);
        return reply.header('x-rows', rows).type('application/x-ndjson').send(stream);
      },
    });

    scope.route({
      method: 'GET',
      url: '/internal/shards/:scan_id/:shard/checkpoint',
      ...open,
      handler: async (request, reply) => {
        const { intake, sender } = intakeOf(request);
        const bytes = await intake.checkpoint(sender);
        if (bytes === null) return reply.code(204).send();
        return reply.type('application/octet-stream').send(bytes);
      },
    });

    scope.route({
      method: 'PUT',
      url: '/internal/shards/:scan_id/:shard/rows/:first',
      ...open,
      onRequest: admit,
      bodyLimit: maxRowsBytes,
      handler: async (request) => {
        const { intake, sender } = intakeOf(request);
        const body = wholeBody(request);
        const first = wholeNumber((request.params as ShardPath).first);
        return { rows: await intake.append(sender, first, rowLines(body)) };
      },
    });

    scope.route({
      method: 'PUT',
      url: '/internal/shards/:scan_id/:shard/checkpoint',
      ...open,
      onRequest: admit,
      bodyLimit: maxCheckpointBytes,
      handler: async (request, reply) => {
        const { intake, sender } = intakeOf(request);
        await intake.keepCheckpoint(sender, wholeBody(request));
        return reply.code(204).send();
      },
    });
  });
}

/** @throws PortolanError `unauthorized` */
function senderOf({ params, headers }: FastifyRequest): ShardCredentials {
  const { scan_id: scanId, shard } = params as ShardPath;
  const [, key] = /^Bearer (\S{1,200})$/.exec(headers.authorization ?? '') ?? [];
  if (key === undefined) throw new PortolanError('unauthorized', 'Missing shard key.');
  if (!scanIdPattern.test(scanId)) throw new PortolanError('not_found', 'Shard not found.');
  return { scanId, shard: wholeNumber(shard), attempt: wholeNumber(headers['x-shard-attempt']), key };
}

/** @throws PortolanError `invalid_request` */
function wholeNumber(text: unknown): number {
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text);
  throw new PortolanError('invalid_request', 'Malformed number in the request.');
}

/** @throws PortolanError `invalid_request` for a checksum mismatch */
function wholeBody({ body, headers }: FastifyRequest): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (headers['x-content-sha256'] === digest) return bytes;
  throw new PortolanError('invalid_request', 'Checksum mismatch: the body does not match X-Content-Sha256.');
}

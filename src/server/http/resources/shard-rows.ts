import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { PortolanError } from '../../../domain/errors.ts';
import { scanIdPattern } from '../../../domain/scan.ts';
import type { RouteContext } from '../../context.ts';
import { rowLines, type ShardCredentials, type ShardIngest } from '../../shards/shard-ingest.ts';
import type { App } from '../app-type.ts';

/** Bytes of one body: a block of the record, 1 MiB, and one row more. */
const maxRowsBytes = 4 * 1024 * 1024;
/** A checkpoint has a bit for each pair of host and port that is not settled. */
const maxCheckpointBytes = 64 * 1024 * 1024;

interface ShardPath {
  scan_id: string;
  shard: string;
  first?: string;
}

/**
 * Where workers bring what they find. Not part of the API: who may come has the key of a shard, which only those who
 * read the queue can have.
 */
export function shardRowRoutes(app: App, { shards }: RouteContext): void {
  if (!shards) return;
  const intakeOf = (request: FastifyRequest): { intake: ShardIngest; sender: ShardCredentials } => {
    const sender = senderOf(request);
    const intake = shards.intakes.get(sender.scanId);
    // The server has just begun and has not got to this scan, or the scan is over.
    if (!intake) throw new PortolanError('unavailable', 'The scan takes no rows now; try again.');
    return { intake, sender };
  };
  // A body is read only for who holds the key of the shard, and after that only up to its limit.
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
  if (key === undefined) throw new PortolanError('unauthorized', 'The key of the shard is missing.');
  if (!scanIdPattern.test(scanId)) throw new PortolanError('not_found', 'There is no such shard.');
  return { scanId, shard: wholeNumber(shard), attempt: wholeNumber(headers['x-shard-attempt']), key };
}

/** @throws PortolanError `invalid_request` */
function wholeNumber(text: unknown): number {
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text);
  throw new PortolanError('invalid_request', 'A number of the request is malformed.');
}

/** @throws PortolanError `invalid_request` when the body is not what the sender meant */
function wholeBody({ body, headers }: FastifyRequest): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (headers['x-content-sha256'] === digest) return bytes;
  throw new PortolanError('invalid_request', 'The body does not fit X-Content-Sha256.');
}

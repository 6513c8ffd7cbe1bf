import { hostname } from 'node:os';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { presentWorkers } from '../../../actions/workers/present-workers.ts';
import { checkTokenTenant } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { countSchema, nullableText } from '../schema/schemas.ts';

const workerSchema = Type.Object(
  {
    worker_id: Type.String({ description: '`server` for the scan processes of a single server' }),
    host: Type.String(),
    pools: Type.Array(Type.String(), { description: 'empty = all' }),
    tags: Type.Array(Type.String()),
    version: Type.String(),
    state: Type.Enum(['working', 'idle', 'silent', 'stopped'], {
      description: 'silent: no heartbeat for 15 s; stopped: accepts no scans',
    }),
    busy: countSchema,
    capacity: countSchema,
    started_at: nullableText,
    heartbeat_at: Type.String({ format: 'date-time' }),
    scans: Type.Array(Type.String(), {
      description: 'ids of its running scans, of the tenant of the request',
    }),
  },
  { title: 'Worker' },
);

/** Scans that are looked up to show which worker runs them. */
const maxScans = 1000;

export function workerRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/workers',
    config: { access: ['metrics:read'], wholeService: true },
    schema: {
      summary: 'List workers',
      description: 'Workers of other machines stay listed for 60 s after their last heartbeat.',
      response: { 200: enveloped(Type.Object({ workers: Type.Array(workerSchema) })) },
    },
    handler: async (request) => {
      checkTokenTenant(request.space, request.token, 'the workers');
      const running = await runningScans(request);
      const workers = context.shards
        ? await remoteWorkers(request, running)
        : [localWorker(context, running)];
      return envelope(request, { workers });
    },
  });
}

/** Of the tenant of the request. */
async function runningScans({ space: { store } }: FastifyRequest): Promise<string[]> {
  const { scans } = await store.scans.listPart({ status: 'running', limit: maxScans, offset: 0 });
  return scans.map(({ scan_id }) => scan_id);
}

function localWorker({ workers, version, startedAt }: RouteContext, scans: string[]) {
  const { active, total } = workers.counts();
  const idleState = workers.alive ? 'idle' : 'stopped';
  return {
    worker_id: 'server',
    host: hostname(),
    pools: [],
    tags: [],
    version: version.version,
    state: active > 0 ? ('working' as const) : (idleState as 'idle' | 'stopped'),
    busy: active,
    capacity: total,
    started_at: new Date(Date.now() - (performance.now() - startedAt)).toISOString(),
    heartbeat_at: new Date().toISOString(),
    scans,
  };
}

async function remoteWorkers({ space: { store } }: FastifyRequest, running: readonly string[]) {
  const [workers, shards] = await Promise.all([presentWorkers(store), store.shards.running()]);
  const inShards = new Set(shards.map(({ scanId }) => scanId));
  // Without a shard a scan is with the worker of its server.
  const owners = await store.scans.ownersOf(running.filter((scanId) => !inShards.has(scanId)));
  return workers.map(({ active, last_seen, silent_ms: _silent, ...worker }) => {
    const held = shards.filter(({ worker: holder }) => holder === worker.worker_id);
    const undivided = [...owners].filter(([, owner]) => worker.worker_id.startsWith(`${owner}:`));
    const scans = new Set([...held.map(({ scanId }) => scanId), ...undivided.map(([scanId]) => scanId)]);
    return {
      ...worker,
      busy: active,
      heartbeat_at: new Date(last_seen).toISOString(),
      scans: running.filter((scanId) => scans.has(scanId)),
    };
  });
}

import { Type } from 'typebox';
import { PortolanError } from '../../../domain/errors.ts';
import type { RouteContext } from '../../context.ts';
import { checkHealth, notReady } from '../../health.ts';
import type { App } from '../app-type.ts';
import { enveloped, metaOf } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const aliveSchema = Type.Object(
  {
    status: Type.Literal('healthy'),
    data: Type.Object({ status: Type.Literal('healthy') }),
    meta: Type.Object({ timestamp: Type.String() }),
  },
  { title: 'Liveness' },
);

const count = Type.Integer({ minimum: 0 });
const healthMembers = {
  status: Type.Enum(['healthy', 'degraded', 'unhealthy']),
  uptime: Type.Integer({ minimum: 0, description: 'whole seconds' }),
  version: Type.String(),
  workers: Type.Object({ active: count, idle: count, total: count }),
  queue: Type.Object({ pending: count, running: count, failed: count }),
  workspace: Type.Object({ scans: count, size_mb: count, free_space_mb: count }),
  scanning: Type.Object(
    {
      method: Type.Enum(['raw packets', 'connections']),
      reason: Type.String(),
      networks: Type.Array(Type.Object({ interface: Type.String(), network: Type.String() }), {
        description: 'IPv4 networks that this machine is in, at least partly in scope',
      }),
    },
    { description: 'scan method of this machine, the reason, and what is near' },
  ),
  windows: Type.Object(
    { open: Type.Boolean(), reason: nullableText, until: nullableText },
    { description: 'whether scans may send packets now; if not, why and until when' },
  ),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Type.Enum(['degraded', 'unhealthy']),
      message: Type.String(),
    }),
  ),
};
const health = Type.Object(healthMembers, { title: 'Health' });
const healthSchema = Type.Object(
  { ...healthMembers, ...enveloped(health).properties },
  { title: 'HealthResponse' },
);

/** Probes for load balancers and supervisors: no dependencies, no token. */
export function livenessRoutes(app: App, context: RouteContext): void {
  for (const url of ['/health', '/livez', '/healthz']) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'open' },
      schema: { summary: 'Liveness probe', response: { 200: aliveSchema } },
      handler: async () => alive(),
    });
  }

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access: 'open' },
    schema: { summary: 'Readiness probe', response: { 200: aliveSchema } },
    handler: async () => {
      const reason = notReady(context);
      if (reason === null) return alive();
      throw new PortolanError('unavailable', reason);
    },
  });
}

export function healthRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/health',
    config: { access: 'any', wholeService: true, unmetered: true },
    schema: {
      summary: 'Health of the service',
      response: { 200: healthSchema, 503: healthSchema },
    },
    handler: async (request, reply) => {
      const health = await checkHealth(context, request.space);
      if (health.status === 'unhealthy') reply.code(503).header('retry-after', '5');
      return { ...health, data: health, meta: metaOf(request) };
    },
  });
}

function alive() {
  const status = 'healthy' as const;
  return { status, data: { status }, meta: { timestamp: new Date().toISOString() } };
}

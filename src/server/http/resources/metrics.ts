import { Type } from 'typebox';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { routeOf } from '../routes.ts';

const text = 'Prometheus text format 0.0.4';

/** Metrics of the whole service, without names of tenants, tokens or targets. */
export function metricsRoutes(app: App, { config, metrics }: RouteContext): void {
  const { auth } = config.server.metrics;
  app.route({
    method: 'GET',
    url: '/metrics',
    config: {
      access: auth ? ['metrics:read'] : 'open',
      alwaysAuthenticated: auth,
      wholeService: true,
      unmetered: true,
      feature: 'metrics',
    },
    schema: {
      summary: 'Prometheus metrics',
      response: { 200: { description: text, content: { 'text/plain': { schema: Type.String() } } } },
    },
    handler: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  });
}

/** Counts every response by the pattern of its route. */
export function measureResponses(app: App, { metrics }: RouteContext): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = routeOf(request);
    metrics.answered({
      route: url ?? null,
      status: reply.statusCode,
      milliseconds: config?.streams ? null : reply.elapsedTime,
    });
    done();
  });
}

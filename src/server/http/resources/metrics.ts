import { Type } from 'typebox';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { prefersOpenMetrics } from '../request/accepted-format.ts';
import { routeOf } from '../routes.ts';

const text = Type.String();

/** Metrics of the whole service, without names of tenants, tokens or targets. */
export function metricsRoutes(app: App, { config, metrics }: RouteContext): void {
  const { auth } = config.server.metrics;
  app.route({
    method: 'GET',
    url: '/metrics',
    config: {
      access: auth ? ['metrics:read'] : 'open',
      alwaysAuthenticated: auth,
      ownHostOnly: true,
      wholeService: true,
      unmetered: true,
      feature: 'metrics',
    },
    schema: {
      summary: 'Prometheus metrics',
      response: {
        200: {
          description: 'Prometheus text format 0.0.4, or OpenMetrics 1.0 when Accept prefers it',
          content: { 'text/plain': { schema: text }, 'application/openmetrics-text': { schema: text } },
        },
      },
    },
    handler: async ({ headers }, reply) => {
      const format = prefersOpenMetrics(headers.accept) ? 'openmetrics' : 'text';
      const rendered = await metrics.render(format);
      return reply.header('vary', 'Accept').type(rendered.contentType).send(rendered.text);
    },
  });
}

/** Counts every response by the pattern of its route. */
export function measureResponses(app: App, { metrics }: RouteContext): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = routeOf(request);
    metrics.countResponse({
      route: url ?? null,
      status: reply.statusCode,
      milliseconds: config?.streams ? null : reply.elapsedTime,
    });
    done();
  });
}

import type { App } from './app-type.ts';

export function openapiRoutes(app: App): void {
  let document: string | null = null;
  app.route({
    method: 'GET',
    url: '/api/v1/openapi.json',
    config: { access: 'any' },
    schema: { summary: 'This description of the API', hide: true },
    handler: async (_request, reply) => {
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
}

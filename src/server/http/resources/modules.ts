import { Type } from 'typebox';
import type { Installed } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';

const moduleSchema = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    description: Type.String(),
    version: Type.String(),
    source: Type.String(),
    requires: Type.Array(Type.String()),
    provides: Type.Array(Type.String()),
    config_schema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the options' }),
  },
  { title: 'Module' },
);

export function moduleRoutes(app: App, installed: Pick<Installed, 'modules'>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/modules',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'List installed scan modules',
      response: { 200: enveloped(Type.Object({ modules: Type.Array(moduleSchema) })) },
    },
    handler: async (request) => envelope(request, { modules: installed.modules }),
  });
}

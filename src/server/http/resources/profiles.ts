import { Type } from 'typebox';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';

const described = { name: Type.String(), description: Type.String(), source: Type.String() };
const profileSchema = Type.Object({ ...described, aliases: Type.Array(Type.String()) }, { title: 'Profile' });
const dagSchema = Type.Object({ ...described, nodes: Type.Integer() }, { title: 'Graph' });

export function profileRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/v1/profiles',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'List profiles',
      response: { 200: enveloped(Type.Object({ profiles: Type.Array(profileSchema) })) },
    },
    handler: async (request) => {
      const profiles = request.space.installed.library.profiles();
      return envelope(request, {
        profiles: profiles.map(({ name, description, source, aliases }) => ({
          name,
          description,
          source,
          aliases,
        })),
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/dags',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'List graphs',
      response: { 200: enveloped(Type.Object({ dags: Type.Array(dagSchema) })) },
    },
    handler: async (request) => {
      const dags = request.space.installed.library.list();
      return envelope(request, {
        dags: dags.map(({ name, description, source, graph }) => ({
          name,
          description,
          source,
          nodes: graph.nodes.length,
        })),
      });
    },
  });
}

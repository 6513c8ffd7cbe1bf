import { Type } from 'typebox';
import { deleteProfile, saveProfile } from '../../../actions/graphs/change-profile.ts';
import { showProfile } from '../../../actions/graphs/show-profile.ts';
import type { RouteContext } from '../../context.ts';
import type { Installed } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { libraryRoutes } from '../library-routes.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { profileBody, profileDetailSchema } from '../schema/graph-schemas.ts';

const profileSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    source: Type.String(),
    aliases: Type.Array(Type.String()),
    default: Type.Boolean({ description: 'of scans that name none' }),
  },
  { title: 'Profile' },
);

export function profileRoutes(app: App, context: Pick<RouteContext, 'config'>, installed: Installed): void {
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
          default: [name, ...aliases].includes(context.config.scanner.default_profile),
        })),
      });
    },
  });

  libraryRoutes(app, context, installed, {
    type: 'profile',
    access: ['admin'],
    noun: 'profile',
    content: 'its graph, settings and file',
    users: 'jobs',
    detailSchema: profileDetailSchema,
    body: profileBody,
    show: showProfile,
    save: saveProfile,
    remove: deleteProfile,
  });
}

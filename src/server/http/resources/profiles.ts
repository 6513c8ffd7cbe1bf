import { Type } from 'typebox';
import { deleteProfile, saveProfile } from '../../../actions/graphs/change-profile.ts';
import { showProfile } from '../../../actions/graphs/show-profile.ts';
import type { RouteContext } from '../../context.ts';
import type { Installed } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { libraryOf, noteChange, setVersion, versionIn } from '../library-request.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import {
  deletedSchema,
  nameParams,
  profileBody,
  profileDetailSchema,
  versionHeaders,
} from '../schema/graph-schemas.ts';

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

export function profileRoutes(
  app: App,
  { config }: Pick<RouteContext, 'config'>,
  installed: Installed,
): void {
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
          default: [name, ...aliases].includes(config.scanner.default_profile),
        })),
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/profiles/:name',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show a profile: its graph, settings and file',
      params: nameParams,
      response: { 200: enveloped(profileDetailSchema) },
    },
    handler: async (request, reply) => {
      const library = libraryOf(request, { config }, installed);
      const detail = await showProfile(library, request.params.name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'PUT',
    url: '/api/v1/profiles/:name',
    config: {
      access: ['admin'],
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: 'profile.write',
    },
    schema: {
      summary: 'Create or replace a profile',
      description:
        'Written to the folder of the tenant and in force at once; accepted scans keep theirs. Replacing one requires ' +
        'If-Match. `details.problems` of a 400 has the problems of the file.',
      params: nameParams,
      headers: versionHeaders,
      body: profileBody,
      response: { 200: enveloped(profileDetailSchema) },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const { text } = request.body;
      noteChange(request, 'profile', name, text);
      const library = libraryOf(request, { config }, installed);
      await saveProfile(library, { name, text, version: versionIn(request.headers) });
      const detail = await showProfile(library, name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/api/v1/profiles/:name',
    config: {
      access: ['admin'],
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: 'profile.remove',
    },
    schema: {
      summary: 'Delete a profile',
      description: 'A 409 for one in use has the jobs that name it in `details`.',
      params: nameParams,
      headers: versionHeaders,
      response: { 200: enveloped(deletedSchema) },
    },
    handler: async (request) => {
      const { name } = request.params;
      noteChange(request, 'profile', name);
      await deleteProfile(libraryOf(request, { config }, installed), name, versionIn(request.headers));
      return envelope(request, { name, deleted: true as const });
    },
  });
}

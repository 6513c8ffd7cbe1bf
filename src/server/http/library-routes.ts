import type { TUnsafe } from 'typebox';
import type { TokenScope } from '../../actions/access/verify-token.ts';
import type { SavedText } from '../../actions/graphs/change-graph.ts';
import type { WritableLibrary } from '../../actions/graphs/graph-files.ts';
import type { RouteContext } from '../context.ts';
import type { Installed } from '../installed.ts';
import type { App } from './app-type.ts';
import { libraryOf, noteChange, setVersion, versionIn } from './library-request.ts';
import { abortSignal } from './response-deadline.ts';
import { envelope, enveloped } from './schema/envelope.ts';
import { deletedSchema, type graphBody, nameParams, versionHeaders } from './schema/graph-schemas.ts';

/** Graphs or profiles. */
export interface LibraryFiles<Detail extends { version: string }> {
  /** In URLs, the audit log and its operations. */
  type: 'dag' | 'profile';
  /** As people call one. */
  noun: string;
  /** What is shown of one. */
  content: string;
  /** Who may write one. */
  access: TokenScope[];
  /** What may name one. */
  users: string;
  detailSchema: TUnsafe<Detail>;
  body: typeof graphBody;
  show: (library: WritableLibrary, name: string) => Promise<Detail>;
  save: (library: WritableLibrary, file: SavedText, signal: AbortSignal) => Promise<void>;
  remove: (library: WritableLibrary, name: string, version: string | null) => Promise<void>;
}

/** The routes of one file: they show, save and delete it. */
export function libraryRoutes<Detail extends { version: string }>(
  app: App,
  { config }: Pick<RouteContext, 'config'>,
  installed: Installed,
  files: LibraryFiles<Detail>,
): void {
  const { type, noun } = files;
  const url = `/api/v1/${type}s/:name`;

  app.route({
    method: 'GET',
    url,
    config: { access: ['scan:read'] },
    schema: {
      summary: `Show a ${noun}: ${files.content}`,
      params: nameParams,
      response: { 200: enveloped(files.detailSchema) },
    },
    handler: async (request, reply) => {
      const detail = await files.show(libraryOf(request, { config }, installed), request.params.name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'PUT',
    url,
    config: {
      access: files.access,
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: `${type}.write`,
    },
    schema: {
      summary: `Create or replace a ${noun}`,
      description:
        'Written to the folder of the tenant and in force at once; accepted scans keep theirs. Replacing one requires ' +
        'If-Match. `details.problems` of a 400 has the problems of the file.',
      params: nameParams,
      headers: versionHeaders,
      body: files.body,
      response: { 200: enveloped(files.detailSchema) },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const { text } = request.body;
      noteChange(request, type, name, text);
      const library = libraryOf(request, { config }, installed);
      await files.save(library, { name, text, version: versionIn(request.headers) }, abortSignal(request));
      const detail = await files.show(library, name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'DELETE',
    url,
    config: {
      access: files.access,
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: `${type}.remove`,
    },
    schema: {
      summary: `Delete a ${noun}`,
      description: `A 409 for one in use has the ${files.users} that name it in \`details\`.`,
      params: nameParams,
      headers: versionHeaders,
      response: { 200: enveloped(deletedSchema) },
    },
    handler: async (request) => {
      const { name } = request.params;
      noteChange(request, type, name);
      await files.remove(libraryOf(request, { config }, installed), name, versionIn(request.headers));
      return envelope(request, { name, deleted: true as const });
    },
  });
}

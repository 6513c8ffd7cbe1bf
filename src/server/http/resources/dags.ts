import { Type } from 'typebox';
import { deleteGraph, saveGraph } from '../../../actions/graphs/change-graph.ts';
import { GraphChecker } from '../../../actions/graphs/graph-checker.ts';
import { showGraph } from '../../../actions/graphs/show-graph.ts';
import type { RouteContext } from '../../context.ts';
import type { Installed } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { libraryOf, noteChange, setVersion, versionIn } from '../library-request.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import {
  deletedSchema,
  graphBody,
  graphDetailSchema,
  nameParams,
  verdictSchema,
  versionHeaders,
} from '../schema/graph-schemas.ts';

const dagSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    source: Type.String(),
    nodes: Type.Integer(),
  },
  { title: 'Graph' },
);

/** Name of a validated graph whose file names none. */
const unnamed = 'graph';

export function dagRoutes(app: App, { config }: Pick<RouteContext, 'config'>, installed: Installed): void {
  const checker = new GraphChecker();

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

  app.route({
    method: 'POST',
    url: '/api/v1/dags/validate',
    config: { access: ['scan:read'], abortable: true },
    schema: {
      summary: 'Validate a graph file',
      description: 'Nothing is stored. The response to an invalid graph is 200 with its problems.',
      body: graphBody,
      response: { 200: enveloped(verdictSchema) },
    },
    handler: async (request) => {
      const file = { text: request.body.text, name: unnamed, isNamed: false };
      return envelope(request, await checker.check(file, request.space.installed, request.signal));
    },
  });

  app.route({
    method: 'GET',
    url: '/api/v1/dags/:name',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show a graph: its nodes, edges and file',
      params: nameParams,
      response: { 200: enveloped(graphDetailSchema) },
    },
    handler: async (request, reply) => {
      const library = libraryOf(request, { config }, installed);
      const detail = await showGraph(library, request.params.name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'PUT',
    url: '/api/v1/dags/:name',
    config: {
      access: ['admin'],
      abortable: true,
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: 'dag.write',
    },
    schema: {
      summary: 'Create or replace a graph',
      description:
        'Written to the folder of the tenant and in force at once; accepted scans keep theirs. Replacing one requires ' +
        'If-Match. `details.problems` of a 400 has the problems of the file.',
      params: nameParams,
      headers: versionHeaders,
      body: graphBody,
      response: { 200: enveloped(graphDetailSchema) },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const { text } = request.body;
      noteChange(request, 'dag', name, text);
      const library = libraryOf(request, { config }, installed);
      await saveGraph(library, checker, { name, text, version: versionIn(request.headers) }, request.signal);
      const detail = await showGraph(library, name);
      setVersion(reply, detail.version);
      return envelope(request, detail);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/api/v1/dags/:name',
    config: {
      access: ['admin'],
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: 'dag.remove',
    },
    schema: {
      summary: 'Delete a graph',
      description: 'A 409 for one in use has the profiles and jobs that name it in `details`.',
      params: nameParams,
      headers: versionHeaders,
      response: { 200: enveloped(deletedSchema) },
    },
    handler: async (request) => {
      const { name } = request.params;
      noteChange(request, 'dag', name);
      await deleteGraph(libraryOf(request, { config }, installed), name, versionIn(request.headers));
      return envelope(request, { name, deleted: true as const });
    },
  });
}

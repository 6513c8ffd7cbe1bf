import { Type } from 'typebox';
import { deleteGraph, saveGraph } from '../../../actions/graphs/change-graph.ts';
import { GraphChecker } from '../../../actions/graphs/graph-checker.ts';
import { showGraph } from '../../../actions/graphs/show-graph.ts';
import type { RouteContext } from '../../context.ts';
import type { Installed } from '../../installed.ts';
import type { App } from '../app-type.ts';
import { libraryRoutes } from '../library-routes.ts';
import { abortSignal } from '../response-deadline.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { graphBody, graphDetailSchema, verdictSchema } from '../schema/graph-schemas.ts';

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

export function dagRoutes(app: App, context: Pick<RouteContext, 'config'>, installed: Installed): void {
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
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Validate a graph file',
      description: 'Nothing is stored. The response to an invalid graph is 200 with its problems.',
      body: graphBody,
      response: { 200: enveloped(verdictSchema) },
    },
    handler: async (request) => {
      const file = { text: request.body.text, name: unnamed, isNamed: false };
      return envelope(request, await checker.check(file, request.space.installed, abortSignal(request)));
    },
  });

  libraryRoutes(app, context, installed, {
    type: 'dag',
    access: ['dag:write'],
    noun: 'graph',
    content: 'its nodes, edges and file',
    users: 'profiles and jobs',
    detailSchema: graphDetailSchema,
    body: graphBody,
    show: showGraph,
    save: (library, file, signal) => saveGraph(library, checker, file, signal),
    remove: deleteGraph,
  });
}

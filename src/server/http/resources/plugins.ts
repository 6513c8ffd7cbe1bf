import { Type } from 'typebox';
import { withGraphs } from '../../../actions/plugins/where-plugins-run.ts';
import { pluginKinds, pluginStages } from '../../../plugins/manifest.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

export const pluginSchema = Type.Object(
  {
    name: Type.String(),
    kind: Type.Union([Type.Enum([...pluginKinds]), Type.Null()], {
      description: 'null if the package is damaged',
    }),
    version: nullableText,
    path: nullableText,
    sha256: nullableText,
    signature: Type.Object({ state: Type.String(), publisher: nullableText, fingerprint: nullableText }),
    loaded: Type.Boolean(),
    error: nullableText,
    installed_at: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'null for one that is not installed: of the command line or the configuration',
    }),
    previous: Type.Unsafe<string | null>({ ...nullableText, description: 'version of a rollback' }),
    disabled: Type.Boolean({ description: 'switched off: it runs in no scan' }),
    permissions: Type.Array(Type.String(), { description: '`network`: it sends through the gate' }),
    stage: Type.Unsafe<string | null>({
      ...nullableText,
      description: `where it belongs (${pluginStages.join(', ')}): then it runs in the builtin profiles`,
    }),
    runs_in: Type.Array(Type.String(), { description: 'names of the graphs in which it runs' }),
  },
  { title: 'Plugin' },
);

export function pluginRoutes(app: App, { plugins }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/plugins',
    config: { access: ['plugin:read', 'scan:read'] },
    schema: {
      summary: 'List plugins: installed ones and those of the command line',
      response: { 200: enveloped(Type.Object({ plugins: Type.Array(pluginSchema) })) },
    },
    handler: async (request) =>
      envelope(request, { plugins: withGraphs(plugins.listed, request.space.installed) }),
  });
}

import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TokenScope } from '../../../actions/access/verify-token.ts';
import { installPlugin, rollBackPlugin } from '../../../actions/plugins/install-plugin.ts';
import { disablePlugin, removePlugin } from '../../../actions/plugins/list-plugins.ts';
import { type PlacedRow, withGraphs } from '../../../actions/plugins/where-plugins-run.ts';
import { invalidRequest, PortolanError } from '../../../domain/errors.ts';
import { pluginStages } from '../../../plugins/manifest.ts';
import { checkTokenTenant } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { sentPluginSchema } from '../schema/schemas.ts';
import { pluginSchema } from './plugins.ts';

const access: TokenScope[] = ['plugin:manage', 'plugin:write'];
const nameParams = Type.Object({ name: Type.String({ minLength: 3, maxLength: 63 }) });
const changed = { 200: enveloped(pluginSchema) };

/** Installs, switches and removes plugins of this server; they are in force before the response. */
export function pluginChangeRoutes(app: App, context: RouteContext): void {
  const { config, license, plugins } = context;
  const facts = () => ({ config, license, builtin: plugins.builtin });
  const about = (request: FastifyRequest, name: string | null, details: Record<string, unknown> = {}) => {
    checkTokenTenant(request.space, request.token, 'the plugins');
    request.change = { type: 'plugin', id: name, details };
  };
  const rowOf = async (request: FastifyRequest, name: string): Promise<PlacedRow> => {
    await plugins.refresh();
    const row = withGraphs(plugins.listed, request.space.installed).find((each) => each.name === name);
    if (row) return row;
    throw new PortolanError('not_found', `no plugin ${name} is installed`);
  };

  app.route({
    method: 'POST',
    url: '/api/v1/plugins',
    config: {
      access,
      wholeService: true,
      refusals: ['conflict', 'license_required'],
      auditEvent: 'config_change',
      auditOperation: 'plugin.install',
    },
    schema: {
      summary: 'Install a plugin',
      description:
        'A package or a bare file, as portolan plugin install takes it. Nothing of it is run to install it.',
      body: Type.Object(
        {
          ...sentPluginSchema.properties,
          stage: Type.Optional(
            Type.Enum([...pluginStages], { description: 'of a bare file: it runs in the builtin profiles' }),
          ),
          force: Type.Optional(Type.Boolean({ description: 'replace the same version with other content' })),
        },
        {
          examples: [
            { file: 'old_ssh.mjs', content: 'ZXhwb3J0IGNvbnN0IFBsdWdpbiA9IHt9Ow==', stage: 'evaluation' },
          ],
        },
      ),
      response: { 201: enveloped(pluginSchema) },
    },
    handler: async (request, reply) => {
      const { file, content, signature = null, stage, force = false } = request.body;
      about(request, null);
      const given = { archive: Buffer.from(content, 'base64'), signature };
      const wrap = stage === undefined ? null : { name: null, version: null, permissions: [], stage };
      const order = { source: file, sha256: null, wrap, given, force };
      const [change] = await installPlugin(order, facts()).catch(rejected);
      if (!change) throw new Error('nothing was installed');
      const { name, current } = change;
      about(request, name, { version: current.version, sha256: current.sha256 });
      reply.code(201);
      return envelope(request, await rowOf(request, name));
    },
  });

  app.route({
    method: 'PUT',
    url: '/api/v1/plugins/:name',
    config: { access, wholeService: true, auditEvent: 'config_change', auditOperation: 'plugin.switch' },
    schema: {
      summary: 'Switch an installed plugin off or on, on this server',
      params: nameParams,
      body: Type.Object({ disabled: Type.Boolean() }),
      response: changed,
    },
    handler: async (request) => {
      const { name } = request.params;
      const { disabled } = request.body;
      about(request, name, { disabled });
      await disablePlugin(name, config, disabled).catch(rejected);
      return envelope(request, await rowOf(request, name));
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/plugins/:name/rollback',
    config: {
      access,
      wholeService: true,
      refusals: ['conflict', 'license_required'],
      auditEvent: 'config_change',
      auditOperation: 'plugin.rollback',
    },
    schema: { summary: 'Return to the previous version of a plugin', params: nameParams, response: changed },
    handler: async (request) => {
      const { name } = request.params;
      about(request, name);
      await rollBackPlugin(name, facts()).catch(rejected);
      return envelope(request, await rowOf(request, name));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/api/v1/plugins/:name',
    config: {
      access,
      wholeService: true,
      refusals: ['conflict'],
      auditEvent: 'config_change',
      auditOperation: 'plugin.remove',
    },
    schema: {
      summary: 'Remove a plugin with all its versions',
      params: nameParams,
      response: { 200: enveloped(Type.Object({ name: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async (request) => {
      const { name } = request.params;
      about(request, name);
      await removePlugin(name, config, { force: false }).catch(rejected);
      await plugins.refresh();
      return envelope(request, { name, deleted: true as const });
    },
  });
}

/** What the command line calls wrong use or a bad file is a bad request here. @throws PortolanError */
function rejected(error: unknown): never {
  if (!(error instanceof PortolanError)) throw error;
  if (!['usage', 'configuration', 'permission'].includes(error.code)) throw error;
  throw invalidRequest(error.message, [{ field: 'file', reason: error.message }]);
}

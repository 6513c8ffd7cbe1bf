import { Type } from 'typebox';
import { showVulndb } from '../../../actions/catalogs/show-vulndb.ts';
import { PortolanError } from '../../../domain/errors.ts';
import { vulndbFolder } from '../../../scan-run/catalogs/vulndb-folder.ts';
import { checkTokenTenant } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { countSchema, nullableText } from '../schema/schemas.ts';

const vulndbSchema = Type.Object(
  {
    catalogue_version: Type.String({ description: 'of the imported data, else of the builtin catalog' }),
    cve_count: countSchema,
    kev_count: countSchema,
    epss_count: countSchema,
    fix_count: countSchema,
    lacks: Type.Union([Type.String(), Type.Null()], {
      description: 'what the data lacks, and the command that fetches it',
    }),
    synced_at: nullableText,
    syncing: Type.Boolean({ description: 'a sync of this server runs' }),
    sync_problems: Type.Array(Type.String(), { description: 'why the last sync, or a source of it, failed' }),
    sources: Type.Array(Type.String()),
    notices: Type.Array(Type.String(), { description: 'notices to display with the data' }),
  },
  { title: 'VulnerabilityData' },
);

export function vulndbRoutes(app: App, { config, vulndb }: Pick<RouteContext, 'config' | 'vulndb'>): void {
  const state = () => ({ ...showVulndb(vulndbFolder(config)), ...vulndb.state });
  app.route({
    method: 'GET',
    url: '/api/v1/vulndb',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show the state of the vulnerability data',
      response: { 200: enveloped(vulndbSchema) },
    },
    handler: async (request) => envelope(request, state()),
  });

  app.route({
    method: 'POST',
    url: '/api/v1/vulndb/sync',
    config: {
      access: ['admin'],
      wholeService: true,
      auditEvent: 'config_change',
      auditOperation: 'vulndb.sync',
    },
    schema: {
      summary: 'Fetch the vulnerability data',
      description:
        'All sources, as `portolan vulndb sync` does; from then on `GET /api/v1/vulndb` says whether it runs. Without a workspace there is nothing to store it in: 409.',
      response: { 202: enveloped(vulndbSchema) },
    },
    handler: async (request, reply) => {
      checkTokenTenant(request.space, request.token, 'the vulnerability data');
      const { workspace, vulndb: settings } = config;
      if (!workspace.enabled && settings.dir === '')
        throw new PortolanError('conflict', 'no workspace to store the data: set vulndb.dir');
      vulndb.request();
      reply.code(202);
      return envelope(request, state());
    },
  });
}

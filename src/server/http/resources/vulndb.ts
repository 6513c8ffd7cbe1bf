import { Type } from 'typebox';
import { showVulndb } from '../../../actions/catalogs/show-vulndb.ts';
import { vulndbFolder } from '../../../scan-run/catalogs/vulndb-folder.ts';
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
    sources: Type.Array(Type.String()),
    notices: Type.Array(Type.String(), { description: 'notices to display with the data' }),
  },
  { title: 'VulnerabilityData' },
);

export function vulndbRoutes(app: App, { config }: Pick<RouteContext, 'config'>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/vulndb',
    config: { access: ['scan:read'] },
    schema: {
      summary: 'Show the state of the vulnerability data',
      response: { 200: enveloped(vulndbSchema) },
    },
    handler: async (request) => envelope(request, showVulndb(vulndbFolder(config))),
  });
}

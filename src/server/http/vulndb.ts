import { Type } from 'typebox';
import { catalogueVersion } from '../../knowledge/catalogue.ts';
import type { App } from './app-type.ts';
import { envelope, enveloped } from './envelope.ts';
import { count, nullableText } from './schemas.ts';

const vulndbSchema = Type.Object({
  catalogue_version: Type.String(),
  cve_count: count,
  kev_count: count,
  epss_count: count,
  synced_at: nullableText,
  sources: Type.Array(Type.String()),
});

/** The catalogue of this build names products and versions; it holds no vulnerabilities yet. */
const state = {
  catalogue_version: catalogueVersion,
  cve_count: 0,
  kev_count: 0,
  epss_count: 0,
  synced_at: null,
  sources: ['builtin'],
};

export function vulndbRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/v1/vulndb',
    config: { access: ['scan:read'] },
    schema: { summary: 'State of the vulnerability data', response: { 200: enveloped(vulndbSchema) } },
    handler: async (request) => envelope(request, state),
  });
}

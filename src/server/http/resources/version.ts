import { Type } from 'typebox';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const versionSchema = Type.Object(
  {
    version: Type.String(),
    commit: nullableText,
    built_at: nullableText,
    node: Type.String(),
    api: Type.Literal('v1'),
  },
  { title: 'Version' },
);

export function versionRoutes(app: App, { version }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/version',
    config: { access: 'any', wholeService: true },
    schema: { summary: 'Show the version of the service', response: { 200: enveloped(versionSchema) } },
    handler: async (request) => envelope(request, { ...version, node: process.version, api: 'v1' as const }),
  });
}

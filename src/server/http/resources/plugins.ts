import { Type } from 'typebox';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const pluginSchema = Type.Object({
  name: Type.String(),
  kind: Type.Enum(['native', 'grpc', 'wasm', 'rules']),
  version: nullableText,
  path: nullableText,
  sha256: nullableText,
  signature: Type.Object({ state: Type.String(), publisher: nullableText, fingerprint: nullableText }),
  loaded: Type.Boolean(),
  error: nullableText,
});

export function pluginRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/v1/plugins',
    config: { access: ['plugin:read', 'scan:read'] },
    schema: {
      summary: 'List installed plugins',
      response: { 200: enveloped(Type.Object({ plugins: Type.Array(pluginSchema) })) },
    },
    // This build does not support plugins.
    handler: async (request) => envelope(request, { plugins: [] }),
  });
}

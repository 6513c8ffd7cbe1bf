import { Type } from 'typebox';
import { type DescribedSetting, describeSettings } from '../../../config/show.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';

const settingSchema = Type.Unsafe<DescribedSetting>(
  Type.Object(
    {
      key: Type.String(),
      value: Type.Unknown({ description: 'as written in a file; null = not set; •••• stands for secrets' }),
      origin: Type.String({ description: 'default, file:line:column, environment NAME or flag' }),
      default: Type.Unknown({ description: 'null = none' }),
      secret: Type.Boolean({ description: 'whether the value is, or contains, a secret' }),
      description: Type.String(),
    },
    { title: 'Setting' },
  ),
);

/** The settings name all tenants and the paths of the machine: for operators only. */
export function configRoutes(
  app: App,
  { config, settings }: Pick<RouteContext, 'config' | 'settings'>,
): void {
  app.route({
    method: 'GET',
    url: '/api/v1/config',
    config: { access: ['admin'], wholeService: true },
    schema: {
      summary: 'Show the effective configuration',
      description: 'Secrets are masked. Not for tokens of a tenant.',
      response: { 200: enveloped(Type.Object({ settings: Type.Array(settingSchema) })) },
    },
    handler: async (request) => {
      if (request.token?.tenant) {
        const text = 'The token is not valid for the configuration of the service.';
        throw new PortolanError('tenant_forbidden', text);
      }
      return envelope(request, { settings: describeSettings({ config, origins: settings.origins }) });
    },
  });
}

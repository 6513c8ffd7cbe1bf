import { Type } from 'typebox';
import { licenseFeatures, planRates } from '../../../domain/license.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const licenseSchema = Type.Object(
  {
    enforced: Type.Boolean({ description: 'whether features need a license' }),
    plan: Type.Enum(Object.keys(planRates) as (keyof typeof planRates)[], {
      description: 'plan in force; free if a license is required and none is valid',
    }),
    valid: Type.Boolean({ description: 'a valid license is installed, or one in its grace period' }),
    expires_at: nullableText,
    features: Type.Array(Type.Enum([...licenseFeatures]), { description: 'enabled features' }),
    grace_until: nullableText,
  },
  { title: 'License' },
);

export function licenseRoutes(app: App, { license }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/license',
    config: { access: 'any', wholeService: true },
    schema: { summary: 'Show the license', response: { 200: enveloped(licenseSchema) } },
    handler: async (request) => envelope(request, license.report()),
  });
}

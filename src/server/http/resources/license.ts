import { Type } from 'typebox';
import { licenseFeatures, planRates } from '../../../domain/license.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const licenseSchema = Type.Object({
  enforced: Type.Boolean({ description: 'whether features need a licence here' }),
  plan: Type.Enum(Object.keys(planRates) as (keyof typeof planRates)[], {
    description: 'whose limits hold; free where a licence is needed and none works',
  }),
  valid: Type.Boolean({ description: 'a licence is installed and works, in its grace time too' }),
  expires_at: nullableText,
  features: Type.Array(Type.Enum([...licenseFeatures]), { description: 'what may be used now' }),
  grace_until: nullableText,
});

export function licenseRoutes(app: App, { licence }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/v1/license',
    config: { access: 'any', wholeService: true },
    schema: { summary: 'What the licence allows', response: { 200: enveloped(licenseSchema) } },
    handler: async (request) => envelope(request, licence.report()),
  });
}

import { Type } from 'typebox';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

const sessionSchema = Type.Object(
  {
    token_id: nullableText,
    name: nullableText,
    scopes: Type.Array(Type.String()),
    tenant: nullableText,
    expires_at: nullableText,
    tenants: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'tenants that requests may name in X-Tenant-ID; null where the service has none',
    }),
  },
  { title: 'Session' },
);

/** Without tokens, everybody has all scopes. */
const everybody = { token_id: null, name: null, scopes: ['admin'], tenant: null, expires_at: null };

export function sessionRoutes(app: App, { config: { multi_tenant } }: RouteContext): void {
  const tenantsOf = (tenant: string | null) => {
    if (!multi_tenant.enabled) return null;
    return tenant === null ? multi_tenant.tenants : [tenant];
  };
  app.route({
    method: 'POST',
    url: '/api/v1/session',
    config: { access: 'any', wholeService: true, auditEvent: 'user_login' },
    schema: {
      summary: 'Check a token and return its scopes',
      description: 'If no tokens are required, the id is null and the scope is admin.',
      response: { 200: enveloped(sessionSchema) },
    },
    handler: async (request) => {
      if (request.token === null) return envelope(request, { ...everybody, tenants: tenantsOf(null) });
      const { id, name, scopes, tenant, expires_at } = request.token;
      return envelope(request, {
        token_id: id,
        name,
        scopes,
        tenant,
        expires_at,
        tenants: tenantsOf(tenant),
      });
    },
  });
}

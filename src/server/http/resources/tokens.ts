import { Type } from 'typebox';
import { createToken } from '../../../actions/access/create-token.ts';
import { listTokens, type TokenSummary } from '../../../actions/access/list-tokens.ts';
import { revokeToken } from '../../../actions/access/revoke-token.ts';
import { tokenScopes } from '../../../actions/access/verify-token.ts';
import { requiresTokens } from '../../../config/required-tokens.ts';
import { PortolanError } from '../../../domain/errors.ts';
import { checkTokenTenant } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { envelope, enveloped, metaOf } from '../schema/envelope.ts';
import { nullableText } from '../schema/schemas.ts';

/** In the document only: a token of a later version may have others, and it is listed all the same. */
const scopeSchema = Type.Unsafe<string>({ type: 'string', enum: [...tokenScopes], title: 'Scope' });

const tokenMembers = {
  token_id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(scopeSchema),
  tenant: nullableText,
  created_at: Type.String({ format: 'date-time' }),
  expires_at: nullableText,
  last_used_at: nullableText,
  state: Type.Enum(['active', 'expired', 'revoked']),
};

const createBody = Type.Object({
  name: Type.String({ description: 'its purpose, at most 100 characters' }),
  scopes: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 64,
    description: tokenScopes.join(', '),
  }),
  expires_in: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullableText,
      maxLength: 64,
      description: 'duration such as 90d; absent or null = the token never expires',
    }),
  ),
  tenant: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullableText,
      maxLength: 64,
      description: 'the only tenant of the token; default: that of the request',
    }),
  ),
});

const tokenIdParams = Type.Object({
  token_id: Type.String({ description: 'id of a token, not its secret' }),
});
const tokenIdPattern = /^[a-z0-9]{4,16}$/;

/** Tokens of the request's tenant; without one, those of the whole service. */
export function tokenRoutes(app: App, { config }: Pick<RouteContext, 'config'>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/tokens',
    config: { access: ['admin'], wholeService: true },
    schema: {
      summary: 'List tokens, oldest first',
      description: 'Without their secrets, which only the response to their creation has.',
      response: {
        200: enveloped(Type.Object({ tokens: Type.Array(Type.Object(tokenMembers, { title: 'Token' })) })),
      },
    },
    handler: async (request) => {
      checkTokenTenant(request.space, request.token, 'the tokens');
      const tokens = await listTokens(request.space.store);
      return envelope(request, { tokens: tokens.map(shown) });
    },
  });

  app.route({
    method: 'POST',
    url: '/api/v1/tokens',
    config: {
      access: ['admin'],
      wholeService: true,
      auditEvent: 'config_change',
      auditOperation: 'token.create',
    },
    schema: {
      summary: 'Create a token',
      description:
        'The response has the secret, which cannot be read again. The token gets no scope that the client lacks, and no ' +
        "other tenant than the client's.",
      body: createBody,
      response: {
        201: enveloped(Type.Object({ ...tokenMembers, secret: Type.String() }, { title: 'CreatedToken' })),
      },
    },
    handler: async (request, reply) => {
      const { space, token: grantor } = request;
      const { name, scopes, expires_in: expiry = null } = request.body;
      const details = { name: name.slice(0, 100), scopes: scopes.slice(0, tokenScopes.length) };
      request.change = { type: 'token', id: null, details };
      checkTokenTenant(space, grantor, 'the tokens');
      const tenant = tenantOf(request.body.tenant ?? null, space.tenant);
      const tenants = config.multi_tenant;
      const order = { name, scopes, expiry, expiryField: 'expires_in', tenant, tenants, grantor };
      const { token: secret, record, warnings } = await createToken(space.store, order);
      const { id, expires_at } = record;
      request.change = { type: 'token', id, details: { ...details, tenant, expires_at } };
      reply.code(201);
      const data = { ...shown({ ...record, status: 'active' }), secret };
      return { data, meta: metaOf(request, warnings) };
    },
  });

  app.route({
    method: 'DELETE',
    url: '/api/v1/tokens/:token_id',
    config: {
      access: ['admin'],
      wholeService: true,
      auditEvent: 'config_change',
      auditOperation: 'token.revoke',
      refusals: ['conflict'],
    },
    schema: {
      summary: 'Revoke a token for good',
      description:
        'It is rejected within 2 s. A client may revoke its own token. Where tokens are required, the last active one with the ' +
        'scope admin that belongs to no tenant is refused: 409 with `details.reason` = `last_admin_token`.',
      params: tokenIdParams,
      querystring: Type.Object({
        force: Type.Optional(
          Type.Boolean({
            description: 'also the last one; then only the command line can create another one',
          }),
        ),
      }),
      response: {
        200: enveloped(
          Type.Object({
            token_id: Type.String(),
            revoked: Type.Literal(true),
            own: Type.Boolean({ description: 'whether it is the token of this request' }),
          }),
        ),
      },
    },
    handler: async (request) => {
      const { token_id: id } = request.params;
      const isId = tokenIdPattern.test(id);
      request.change = { type: 'token', id: isId ? id : null };
      checkTokenTenant(request.space, request.token, 'the tokens');
      if (!isId) throw new PortolanError('not_found', 'There is no such token.');
      const sparesLastAdmin = requiresTokens(config) && request.query.force !== true;
      await revokeToken(request.space.store, id, { sparesLastAdmin });
      return envelope(request, { token_id: id, revoked: true as const, own: id === request.tokenId });
    },
  });
}

function shown({ id, name, scopes, tenant, created_at, expires_at, last_used_at, status }: TokenSummary) {
  return { token_id: id, name, scopes, tenant, created_at, expires_at, last_used_at, state: status };
}

/** @param ofRequest null if the request concerns the whole service @throws PortolanError `tenant_forbidden` */
function tenantOf(requested: string | null, ofRequest: string | null): string | null {
  if (requested === null || ofRequest === null || requested === ofRequest) return requested ?? ofRequest;
  throw new PortolanError('tenant_forbidden', 'Unknown tenant, or the token is not valid for it.');
}

import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type AuditView, listAudit } from '../../../actions/access/list-audit.ts';
import { publicAddress } from '../../../config/public-url.ts';
import { auditEvents } from '../../../config/schema.ts';
import { positionOf } from '../../../workspace/audit/audit-log.ts';
import { auditFolder } from '../../../workspace/audit/audit-logs.ts';
import { checkTokenTenant } from '../../access/tenants.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { abortSignal } from '../response-deadline.ts';
import { enveloped, sendData } from '../schema/envelope.ts';
import { linkHeader, pageMembers, pageQuery, sinceQuery } from '../schema/list-page.ts';

const auditQuery = Type.Object({
  ...pageQuery,
  since: sinceQuery,
  until: Type.Optional(Type.String({ description: 'RFC 3339 time or date; only records from before' })),
  event: Type.Optional(
    Type.String({
      maxLength: 200,
      description: `comma-separated: ${auditEvents.join(', ')}; changes = whatever changed something`,
    }),
  ),
  actor: Type.Optional(
    Type.String({ maxLength: 256, description: 'id, name or type (token, anonymous, user, system)' }),
  ),
  outcome: Type.Optional(Type.String({ description: 'allowed, denied, error' })),
  resource: Type.Optional(
    Type.String({ maxLength: 256, description: 'type, type:id or id, such as scan:20261006-143022-a1b2c3' }),
  ),
});

const listSchema = Type.Object({
  audit: Type.Array(
    Type.Object(
      { timestamp: Type.String(), event: Type.String(), outcome: Type.String() },
      {
        title: 'AuditRecord',
        additionalProperties: true,
        description: 'as in the log, with prev_hash and hash',
      },
    ),
  ),
  ...pageMembers,
  total_is_minimum: Type.Boolean({
    description: 'the log is so large that total counts its newest part only',
  }),
});

/** A tenant's token reads the log of its tenant; the log of the service is for tokens without one. */
export function auditRoutes(app: App, { config }: Pick<RouteContext, 'config'>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/audit',
    config: {
      access: ['audit:read'],
      wholeService: true,
      auditEvent: 'config_change',
      auditOperation: 'audit.read',
    },
    schema: {
      summary: 'List the records of the audit log, newest first',
      description:
        'A page may hold fewer records than its limit and have a next_cursor all the same. Damage of the log is named in ' +
        'meta.warnings.',
      querystring: auditQuery,
      response: { 200: enveloped(Type.Unsafe<object>(listSchema)) },
    },
    handler: async (request, reply) => {
      const { records, warnings, ...page } = await listAudit(
        viewOf(request, config),
        request.query,
        abortSignal(request),
      );
      reply.header('link', linkHeader(publicAddress(config.server, '/api/v1/audit'), request.query, page));
      const data = `{"audit":[${records.join(',')}],${JSON.stringify(page).slice(1)}`;
      return sendData(request, reply, data, warnings);
    },
  });
}

function viewOf({ space, token }: FastifyRequest, { workspace, logging }: RouteContext['config']): AuditView {
  const { tenant } = space;
  checkTokenTenant(space, token, 'the audit log');
  const isOperator = tenant === null && (token === null || token.scopes.includes('admin'));
  return {
    position: positionOf(auditFolder(workspace.dir, tenant), logging.audit),
    tenant: isOperator ? undefined : tenant,
  };
}

import { STATUS_CODES } from 'node:http';
import type { SwaggerOptions } from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { type ErrorCode, errorCatalog } from '../../../domain/errors.ts';
import type { ServerContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { nameOfOperation, operationGroups } from './operation-names.ts';

export function openapiRoutes(app: App): void {
  let document: string | null = null;
  app.route({
    method: 'GET',
    url: '/api/v1/openapi.json',
    config: { access: 'any', wholeService: true },
    schema: {
      summary: 'This description of the API',
      // An object for clients; here it is sent as the text that it is kept as.
      response: { 200: Type.Unsafe<string>({ type: 'object', description: 'OpenAPI 3.1' }) },
    },
    handler: async (_request, reply) => {
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
}

/** How the description is made: the routes' own schemas, and the errors that follow from what a route is. */
export function openapiOptions({ version, config }: ServerContext): SwaggerOptions {
  const tenants = config.multi_tenant.enabled;
  const { public_url } = config.server;
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portolan API',
        description: overview,
        version: version.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      ...(public_url !== null && { servers: [{ url: public_url }] }),
      tags: Object.entries(operationGroups).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: tokenAdvice },
          ...(tenants && { tenant: { type: 'apiKey', in: 'header', name: 'X-Tenant-ID' } }),
        },
      },
      security: [{ bearer: [], ...(tenants && { tenant: [] }) }],
    },
    // Not part of the routes' schemas: errors have a serializer of their own, so nothing need be compiled for them.
    transform: ({ schema, url, route }) => ({ schema: described(schema ?? {}, route), url }),
  };
}

const overview = `Submit, watch, list, download and delete network scans.

An answer that succeeds is \`{"data": ..., "meta": ...}\`, one that does not is
\`{"error": {"code", "message", "details"}}\`; \`details.fields\` names every problem of a request at once. Fields that are
not known are ignored and named in \`meta.warnings\`. Lists go on with \`next_cursor\`. Each answer has \`X-Request-Id\`;
429 and 503 have \`Retry-After\`.`;

const tokenAdvice =
  'A token of `portolan server token create`. Needed unless the server listens on loopback only, or ' +
  '`server.api.auth` is false.';

/** What clients and people need beside the schemas of a route: a name, a group, the errors. */
function described(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const name = nameOfOperation([route.method].flat()[0] ?? '', route.url);
  return {
    ...(name && { operationId: name.operationId, tags: [name.group] }),
    ...withErrors(schema, route),
  };
}

function withErrors(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const byStatus = Object.groupBy(errorsOf(route), (code) => errorCatalog[code].status ?? 500);
  const refusals = Object.entries(byStatus).map(([status, codes]) => [status, errorAnswer(codes ?? [])]);
  const answers = Object.entries((schema.response ?? {}) as Record<string, object>);
  const successes = answers.map(([status, answer]) => [
    status,
    { description: STATUS_CODES[status], ...answer },
  ]);
  return { ...schema, response: { ...Object.fromEntries(refusals), ...Object.fromEntries(successes) } };
}

function errorsOf({ method, schema, config }: RouteOptions): ErrorCode[] {
  const reads = method === 'GET';
  return [
    'invalid_request',
    'forbidden_origin',
    'uri_too_long',
    'headers_too_large',
    'internal_error',
    'unavailable',
    ...when(config?.access !== 'open', 'unauthorized', 'rate_limited', 'tenant_forbidden'),
    ...when(config?.feature !== undefined, 'license_required'),
    ...when(Array.isArray(config?.access), 'insufficient_scope'),
    ...when(schema?.params !== undefined, 'not_found'),
    ...when(!reads, 'payload_too_large', 'unsupported_media_type', 'insufficient_storage'),
    ...when(!config?.streams, 'timeout'),
    // Handed on by a server that does not have the files, to one that does not either.
    ...when(config?.atHome === true, 'conflict'),
    ...(config?.refusals ?? []),
  ];
}

function when(applies: boolean, ...codes: ErrorCode[]): ErrorCode[] {
  return applies ? codes : [];
}

/** The one error shape of every 4xx and 5xx answer. */
function errorAnswer(codes: ErrorCode[]) {
  const error = Type.Object({
    code: Type.Enum(codes),
    message: Type.String({ description: 'what is wrong, for people' }),
    details: Type.Object(
      { request_id: Type.Optional(Type.String({ description: 'as in X-Request-Id' })), ...problemsOf(codes) },
      { additionalProperties: true },
    ),
  });
  const description = codes.map((code) => `${code}: ${errorCatalog[code].meaning}`).join(' ');
  return Type.Object({ error }, { additionalProperties: true, description });
}

/** The further details of those errors that have some. */
function problemsOf(codes: ErrorCode[]) {
  const problem = Type.Object({ field: Type.String(), reason: Type.String() });
  return codes.includes('invalid_request')
    ? { fields: Type.Optional(Type.Array(problem, { description: 'every problem of the request' })) }
    : {};
}

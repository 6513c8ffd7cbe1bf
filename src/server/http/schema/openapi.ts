import { STATUS_CODES } from 'node:http';
import type { SwaggerOptions } from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { type ErrorCode, errorCatalog } from '../../../domain/errors.ts';
import type { ServerContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import type { ApiDocument } from './document/api-document.ts';
import { completeDocument } from './document/complete-document.ts';
import { errorMark } from './document/error-responses.ts';
import { nameOfOperation, operationGroups } from './operation-names.ts';

const openapiSchema = {
  type: 'object',
  description: 'OpenAPI 3.1',
  additionalProperties: true,
  examples: [{ openapi: '3.1.0' }],
};

export function openapiRoutes(app: App): void {
  let document: string | null = null;
  app.route({
    method: 'GET',
    url: '/api/v1/openapi.json',
    config: { access: 'any', wholeService: true },
    schema: {
      summary: 'OpenAPI description',
      // An object for clients; sent as the cached text.
      response: { 200: Type.Unsafe<string>(openapiSchema) },
    },
    handler: async (_request, reply) => {
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
}

/** Generates the description from the schemas of the routes and the errors that each route can return. */
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
        contact: { name: 'the operator of this server' },
      },
      servers: [{ url: public_url ?? '/' }],
      tags: Object.entries(operationGroups).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: tokenAdvice },
          ...(tenants && { tenant: { type: 'apiKey', in: 'header', name: 'X-Tenant-ID' } }),
        },
      },
      security: [{ bearer: [], ...(tenants && { tenant: [] }) }],
    },
    // Not in the schemas of the routes: errors have their own serializer and need no compilation.
    transform: ({ schema, url, route }) => ({ schema: described(schema ?? {}, route), url }),
    transformObject: (generated) =>
      'openapiObject' in generated
        ? (completeDocument(generated.openapiObject as ApiDocument) as typeof generated.openapiObject)
        : generated.swaggerObject,
  };
}

const overview = `Submit, watch, list, download and delete network scans.

A success response is \`{"data": ..., "meta": ...}\`, an error response is
\`{"error": {"code", "message", "details"}}\`; \`details.fields\` lists every problem of a request at once. Unknown fields
are ignored and listed in \`meta.warnings\`. Lists continue with \`next_cursor\`. Every response has \`X-Request-Id\`;
429 and 503 have \`Retry-After\`, and a 504 with \`details.index_share\`.`;

const tokenAdvice =
  'A token from `portolan server token create`. Required unless the server listens only on loopback, or ' +
  '`server.api.auth` is false.';

/** Adds operation id, group, required scopes and errors to the schema of a route. */
function described(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const name = nameOfOperation([route.method].flat()[0] ?? '', route.url);
  const texts = [schema.description, accessText(route)].filter((text) => text !== undefined);
  return {
    ...(name && { operationId: name.operationId, tags: [name.group] }),
    ...withErrors(schema, route),
    description: texts.join(' '),
  };
}

function accessText({ config }: RouteOptions): string {
  const access = config?.access ?? 'any';
  if (access === 'open') return 'Needs no token.';
  if (access === 'any') return 'Any valid token will do.';
  return `Needs the scope ${access.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

function withErrors(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const byStatus = Object.groupBy(errorsOf(route), (code) => errorCatalog[code].status ?? 500);
  const refusals = Object.entries(byStatus).map(([status, codes]) => [status, errorMark(codes ?? [])]);
  const responses = Object.entries((schema.response ?? {}) as Record<string, object>);
  const successes = responses.map(([status, response]) => [
    status,
    { description: STATUS_CODES[status], ...response },
  ]);
  return { ...schema, response: { ...Object.fromEntries(refusals), ...Object.fromEntries(successes) } };
}

/** Without those that every operation has. */
function errorsOf({ schema, config }: RouteOptions): ErrorCode[] {
  return [
    'invalid_request',
    ...when(config?.access !== 'open', 'unauthorized', 'rate_limited'),
    ...when(config?.feature !== undefined, 'license_required'),
    ...when(Array.isArray(config?.access), 'insufficient_scope'),
    ...when(schema?.params !== undefined, 'not_found'),
    ...(config?.refusals ?? []),
  ];
}

function when(applies: boolean, ...codes: ErrorCode[]): ErrorCode[] {
  return applies ? codes : [];
}

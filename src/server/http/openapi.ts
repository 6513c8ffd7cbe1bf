import type { SwaggerOptions } from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { type ErrorCode, errorCatalogue } from '../../domain/errors.ts';
import type { ServerContext } from '../context.ts';
import type { App } from './app-type.ts';

export function openapiRoutes(app: App): void {
  let document: string | null = null;
  app.route({
    method: 'GET',
    url: '/api/v1/openapi.json',
    config: { access: 'any' },
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
export function openapiOptions({ version }: ServerContext): SwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portolan API',
        description: 'Submit, watch, list, download and delete network scans.',
        version: version.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    // Not part of the routes' schemas: errors have a serializer of their own, so nothing need be compiled for them.
    transform: ({ schema, url, route }) => ({ schema: withErrors(schema ?? {}, route), url }),
  };
}

function withErrors(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const byStatus = Object.groupBy(errorsOf(route), (code) => errorCatalogue[code].status ?? 500);
  const refusals = Object.entries(byStatus).map(([status, codes]) => [status, errorAnswer(codes ?? [])]);
  return { ...schema, response: { ...Object.fromEntries(refusals), ...(schema.response as object) } };
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
    ...when(config?.access !== 'open', 'unauthorized', 'rate_limited'),
    ...when(Array.isArray(config?.access), 'insufficient_scope'),
    ...when(schema?.params !== undefined, 'not_found'),
    ...when(!reads, 'payload_too_large', 'unsupported_media_type', 'insufficient_storage'),
    ...when(!config?.streams, 'timeout'),
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
    message: Type.String(),
    details: Type.Object({}, { additionalProperties: true }),
  });
  const description = codes.map((code) => `${code}: ${errorCatalogue[code].meaning}`).join(' ');
  return Type.Object({ error }, { additionalProperties: true, description });
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';

const metaSchema = Type.Object(
  {
    timestamp: Type.String({ format: 'date-time' }),
    request_id: Type.Optional(Type.String()),
    warnings: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Meta' },
);

/** The success envelope around the schema of `data`. */
export function enveloped<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: metaSchema });
}

export interface Meta {
  timestamp: string;
  request_id: string;
  warnings?: string[];
}

/** @param more warnings about the data */
export function metaOf(request: FastifyRequest, more: readonly string[] = []): Meta {
  const warnings = [...request.unknownFields, ...more];
  return {
    timestamp: new Date().toISOString(),
    request_id: request.id,
    ...(warnings.length > 0 && { warnings }),
  };
}

export function envelope<T>(request: FastifyRequest, data: T): { data: T; meta: Meta } {
  return { data, meta: metaOf(request) };
}

/**
 * Responds with `data` as JSON text, which is not serialized again; the declared type is that of its value.
 * @param warnings about the data
 */
export function sendData(
  request: FastifyRequest,
  reply: FastifyReply,
  data: string,
  warnings: readonly string[] = [],
): never {
  const text = `{"data":${data},"meta":${JSON.stringify(metaOf(request, warnings))}}`;
  return reply.type('application/json; charset=utf-8').send(text) as never;
}

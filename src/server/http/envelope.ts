import type { FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';

const metaSchema = Type.Object({
  timestamp: Type.String({ format: 'date-time' }),
  request_id: Type.Optional(Type.String()),
  warnings: Type.Optional(Type.Array(Type.String())),
});

/** The success envelope around the schema of `data`. */
export function enveloped<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: metaSchema });
}

export interface Meta {
  timestamp: string;
  request_id: string;
  warnings?: string[];
}

export function metaOf(request: FastifyRequest): Meta {
  const warnings = request.unknownFields;
  return {
    timestamp: new Date().toISOString(),
    request_id: request.id,
    ...(warnings.length > 0 && { warnings }),
  };
}

export function envelope<T>(request: FastifyRequest, data: T): { data: T; meta: Meta } {
  return { data, meta: metaOf(request) };
}

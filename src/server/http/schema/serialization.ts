import { type SerializerCompiler, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';

type RouteDefinition = Parameters<SerializerCompiler>[0];

const compile = SerializerSelector()();

/** Serializers of responses by schema, compiled at the first response for a faster start. */
export const compileSerializer: FastifySerializerCompiler<unknown> = (route) => {
  let serialize: ReturnType<SerializerCompiler> | undefined;
  return (response) => {
    serialize ??= compile(route as RouteDefinition);
    return serialize(response);
  };
};

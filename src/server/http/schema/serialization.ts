import { type SerializerCompiler, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';

type RouteDefinition = Parameters<SerializerCompiler>[0];

const compile = SerializerSelector()();

/** Writers of answers by their schema, each made for the first answer: a start is quicker without all of them. */
export const compileSerializer: FastifySerializerCompiler<unknown> = (route) => {
  let serialize: ReturnType<SerializerCompiler> | undefined;
  return (answer) => {
    serialize ??= compile(route as RouteDefinition);
    return serialize(answer);
  };
};

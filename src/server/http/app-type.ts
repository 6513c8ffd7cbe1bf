import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ErrorCode } from '../../domain/errors.ts';
import type { RouteAccess } from '../auth.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the token that the request came with; null when none is demanded. */
    tokenId: string | null;
    /** `unknown field: x` for each member of the body that the schema does not know. */
    unknownFields: string[];
  }
  interface FastifyContextConfig {
    /** Who may call the route; a route without it fails to register. */
    access: RouteAccess;
    /** The answer may take longer than the usual limit. */
    streams?: boolean;
    /** Errors that follow from what the route does, beside those that follow from its form. */
    refusals?: ErrorCode[];
  }
}

export type App = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

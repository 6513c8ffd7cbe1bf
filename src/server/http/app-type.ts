import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import type { ErrorCode, PortolanError } from '../../domain/errors.ts';
import type { LicenseFeature } from '../../domain/license.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import type { AuditEventName } from '../../workspace/audit/audit-record.ts';
import type { RouteAccess } from '../access/auth.ts';
import type { TenantContext } from '../access/tenants.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the request's token; null when none is required. */
    tokenId: string | null;
    /** Cached by routeOf. */
    route: FastifyRequest['routeOptions'] | null;
    /** The request's token; null when none is required. */
    token: TokenRecord | null;
    /** Whether that token is still valid; for streaming routes, null when none is required. */
    tokenHolds: (() => Promise<boolean>) | null;
    /** Tenant context of the request; null on open routes. */
    space: TenantContext;
    /** Canonical address of the client, also behind trusted proxies. */
    clientAddress: string;
    /** State of the response deadline; null for routes without one. */
    openAnswer: OpenRequest | null;
    /** The error of the response. */
    refusal: PortolanError | null;
    /** What the request changes, for its audit record; null if its path and body say all. */
    change: RequestChange | null;
    /** `unknown field: x; did you mean y?` per unknown member of the body, `unknown parameter: x` per query parameter. */
    unknownFields: string[];
  }
  interface FastifyContextConfig {
    /** Required scopes; a route without it fails to register. */
    access: RouteAccess;
    /** Concerns the whole service: a request needs no tenant. */
    wholeService?: boolean;
    /** Requires a token even if the API requires none. */
    alwaysAuthenticated?: boolean;
    /** Not rate-limited. */
    unmetered?: boolean;
    /** Feature that needs a license where licenses are enforced. */
    feature?: LicenseFeature;
    /** The response may take longer than the usual limit. */
    streams?: boolean;
    /** The response is an event stream, limited per client. */
    eventStream?: boolean;
    /** A page for browsers: served only under the allowed host names. */
    page?: boolean;
    /** Open, but on a server without tokens only under the host names that the API has there. */
    ownHostOnly?: boolean;
    /** Additional event in the audit log, and the operation that it names. */
    auditEvent?: AuditEventName;
    auditOperation?: string;
    /** Errors of the handler, in addition to those of validation and access. */
    refusals?: ErrorCode[];
  }
}

/** An object that a request changes. Without secrets. */
export interface RequestChange {
  type: string;
  id: string | null;
  details?: Record<string, unknown>;
}

/** A pending request; `at` is its index in the list, -1 once removed. */
export interface OpenRequest {
  reply: FastifyReply;
  since: number;
  at: number;
  abort: AbortController | null;
}

export type App = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

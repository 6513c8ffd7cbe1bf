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
    /** Id of the token that the request came with; null when none is demanded. */
    tokenId: string | null;
    /** Kept by routeOf. */
    route: FastifyRequest['routeOptions'] | null;
    /** The token that the request came with; null when none is demanded. */
    token: TokenRecord | null;
    /** Whether that token is good still; of routes that stream, null when none is demanded. */
    tokenHolds: (() => Promise<boolean>) | null;
    /** Store and workspace as the tenant of the request has them; open routes have none. */
    space: TenantContext;
    /** Address of the client, behind trusted proxies too; canonical. */
    clientAddress: string;
    /** What the deadline of its answer knows of it; null where the route has none. */
    openAnswer: OpenRequest | null;
    /** The error that the request is answered with. */
    refusal: PortolanError | null;
    /** `unknown field: x` for each member of the body, `unknown parameter: x` of the query, that no schema knows. */
    unknownFields: string[];
  }
  interface FastifyContextConfig {
    /** Who may call the route; a route without it fails to register. */
    access: RouteAccess;
    /** It speaks of the service as a whole, so a request needs to name no tenant. */
    wholeService?: boolean;
    /** It needs a token even where the API needs none. */
    alwaysAuthenticated?: boolean;
    /** Its requests do not count against the rate. */
    unmetered?: boolean;
    /** What needs a licence where licences are enforced. */
    feature?: LicenseFeature;
    /** The answer may take longer than the usual limit. */
    streams?: boolean;
    /** The answer is a stream of events, of which a client may have so many open. */
    eventStream?: boolean;
    /** The handler minds `request.signal`, which is aborted when the answer is late or the client is gone. */
    abortable?: boolean;
    /** A page for browsers: served under the allowed host names only. */
    page?: boolean;
    /** Recorded in the audit log beside the access. */
    auditEvent?: AuditEventName;
    /** It reads or changes the files of the scan `:scan_id`: where several servers are, the one that has them answers. */
    atHome?: boolean;
    /** Errors that follow from what the route does, beside those that follow from its form. */
    refusals?: ErrorCode[];
  }
}

/** A request under way; `at` is its position among them, -1 once it has left them. */
export interface OpenRequest {
  reply: FastifyReply;
  since: number;
  at: number;
}

export type App = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../../../config/schema.ts';

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';
const allowedHeaders =
  'Authorization, Content-Type, X-Tenant-ID, X-Request-Id, Idempotency-Key, Last-Event-ID, If-Match, traceparent';
const exposedHeaders = [
  'Location',
  'Link',
  'Retry-After',
  'ETag',
  'X-Request-Id',
  'X-Scan-Status',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ');
/** How long a browser may cache the response to a preflight, seconds. */
const preflightSeconds = '600';

/**
 * Cross-origin requests of web pages (WHATWG Fetch, CORS protocol). No plugin: the usual one serves preflights by a
 * catch-all route, which would respond for paths that do not exist, and only after a preflight of an unlisted origin has
 * become an error.
 */
export class Cors {
  readonly enabled: boolean;
  readonly #origins: ReadonlySet<string>;

  constructor({ enabled, origins }: Config['server']['cors']) {
    this.enabled = enabled;
    this.#origins = new Set(origins);
  }

  /** Whether the exact origin of the page is listed. */
  lists(origin: string): boolean {
    return this.enabled && this.#origins.has(origin);
  }

  /** Lets a page of a listed origin read the response. Every response varies by origin. */
  mark(request: IncomingMessage, reply: FastifyReply): void {
    if (!this.enabled) return;
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !this.lists(origin)) return;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', exposedHeaders);
  }

  isPreflight({ method, headers }: IncomingMessage): boolean {
    return (
      this.enabled &&
      method === 'OPTIONS' &&
      headers.origin !== undefined &&
      headers['access-control-request-method'] !== undefined
    );
  }

  /** Without CORS headers for other origins, whose browsers then send no request. */
  answerPreflight({ headers }: IncomingMessage, reply: FastifyReply): FastifyReply {
    if (this.lists(headers.origin ?? '')) {
      reply.header('access-control-allow-methods', allowedMethods);
      reply.header('access-control-allow-headers', allowedHeaders);
      reply.header('access-control-max-age', preflightSeconds);
    }
    return reply.code(204).send();
  }
}

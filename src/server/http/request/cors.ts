import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../../../config/schema.ts';

const allowedMethods = 'GET, HEAD, POST, DELETE';
const allowedHeaders =
  'Authorization, Content-Type, X-Tenant-ID, X-Request-Id, Idempotency-Key, Last-Event-ID';
const exposedHeaders = [
  'Location',
  'Link',
  'Retry-After',
  'X-Request-Id',
  'X-Scan-Status',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ');
/** Seconds for which a browser may remember the answer to a preflight. */
const preflightSeconds = '600';

/**
 * Cross-origin requests of web pages (WHATWG Fetch, CORS protocol). Own code and no plugin: the usual one serves
 * preflights by a route of its own, which would answer for paths that do not exist, and only after a preflight of an
 * unlisted origin has become an error.
 */
export class Cors {
  readonly enabled: boolean;
  readonly #origins: ReadonlySet<string>;

  constructor({ enabled, origins }: Config['server']['cors']) {
    this.enabled = enabled;
    this.#origins = new Set(origins);
  }

  /** True when the page's origin is listed, letter by letter. */
  lists(origin: string): boolean {
    return this.enabled && this.#origins.has(origin);
  }

  /** Lets a page of a listed origin read the answer. Every answer says that it depends on the origin. */
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

  /** The answer to a page of another origin says nothing, and its browser sends no request. */
  answerPreflight({ headers }: IncomingMessage, reply: FastifyReply): FastifyReply {
    if (this.lists(headers.origin ?? '')) {
      reply.header('access-control-allow-methods', allowedMethods);
      reply.header('access-control-allow-headers', allowedHeaders);
      reply.header('access-control-max-age', preflightSeconds);
    }
    return reply.code(204).send();
  }
}

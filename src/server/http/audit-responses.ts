import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PortolanError } from '../../domain/errors.ts';
import { jobIdPattern } from '../../domain/job.ts';
import { scanIdPattern } from '../../domain/scan.ts';
import { canonicalAddress } from '../../domain/targets/address.ts';
import { pathWithoutTokens } from '../../domain/text/secret-text.ts';
import type { AuditEvent } from '../../workspace/audit/audit-record.ts';
import {
  actorOf,
  maxAgentLength,
  maxPathLength,
  nobody,
  rejectionFacts,
  submissionFacts,
  unprovenClaim,
} from '../access/access-facts.ts';
import { claimOf } from '../access/auth.ts';
import type { RouteContext } from '../context.ts';
import type { App } from './app-type.ts';
import { accessOf } from './request/request-checks.ts';
import { type KnownPaths, pathOf, routeOf } from './routes.ts';

/** Maximum length of the first line of a malformed request, bytes. */
const maxFirstLine = 16_384;

/** Requests that have been recorded. */
const recorded = new WeakSet<FastifyRequest>();

/**
 * Records each API request in the audit log, whether served or rejected: requests that change something before the
 * response is sent, others when the response has ended.
 */
export class AuditedResponses {
  readonly #context: Pick<RouteContext, 'audit' | 'config'>;
  readonly #paths: KnownPaths;

  constructor(context: Pick<RouteContext, 'audit' | 'config'>, paths: KnownPaths) {
    this.#context = context;
    this.#paths = paths;
  }

  /** Must be called before any other hook is added. */
  addHooks(app: App): void {
    app.decorateRequest('refusal', null);
    // Synchronous hooks use `done` instead of a promise: there are several per request.
    app.addHook('onRequest', (request, reply, done) => {
      this.follow(request, reply);
      done();
    });
    app.addHook('onSend', (request, reply, _payload, done) => {
      if (request.method === 'GET' || request.method === 'HEAD') return done();
      void this.#recordBefore(request, reply, done);
    });
  }

  /** Records the response at the latest when its connection closes, for whatever reason. */
  follow(request: FastifyRequest, reply: FastifyReply): void {
    if (!this.#context.config.logging.audit.enabled) return;
    const record = () => void this.#record(request, reply);
    reply.raw.once('finish', record);
    reply.raw.once('close', record);
  }

  /** Records a request that node:http cannot parse, if its first line shows that it was for the API. */
  recordBroken(
    { rawPacket }: { rawPacket?: unknown },
    socket: Socket,
    { refusal, id }: { refusal: PortolanError; id: string },
  ): void {
    const packet = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, maxFirstLine) : '';
    const [, method, target] =
      /^([A-Z]{3,10}) (\/(?:api|metrics)(?:[/?][^\s]*)?)(?: HTTP|\r|$)/.exec(packet) ?? [];
    if (!method || !target) return;
    void this.#context.audit.record({
      event: 'api_access',
      outcome: 'denied',
      actor: nobody,
      tenant: null,
      request: {
        id,
        method,
        path: pathWithoutTokens(target.split('?')[0] ?? '').slice(0, maxPathLength),
        status: refusal.status,
        ip: canonicalAddress(socket.remoteAddress ?? '') ?? '',
        user_agent: null,
        duration_ms: 0,
      },
      resource: null,
      details: rejectionFacts(refusal),
    });
  }

  async #recordBefore(
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): Promise<void> {
    try {
      await this.#record(request, reply);
    } catch (error) {
      return done(error as Error);
    }
    done();
  }

  async #record(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { audit, config } = this.#context;
    if (!config.logging.audit.enabled || recorded.has(request) || this.#isOpen(request, reply)) return;
    recorded.add(request);
    const access = recordOf(request, reply, config);
    const { auditEvent, auditOperation: operation } = routeOf(request).config ?? {};
    const details = { ...(operation && { operation }), ...access.details };
    const isLeftOut = !config.logging.audit.reads && access.outcome === 'allowed' && isReadOfUi(request);
    await Promise.all([
      isLeftOut ? undefined : audit.record(access),
      auditEvent ? audit.record({ ...access, event: auditEvent, details }) : undefined,
    ]);
  }

  #isOpen(request: FastifyRequest, reply: FastifyReply): boolean {
    const isPreflight = request.method === 'OPTIONS' && reply.statusCode === 204;
    return isPreflight || accessOf(request, this.#paths) === 'open';
  }
}

/** The Web UI asks again and again for what it shows: between its reads nobody would find a change. */
function isReadOfUi({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers['x-portolan-client'] === 'ui';
}

function recordOf(request: FastifyRequest, reply: FastifyReply, config: RouteContext['config']): AuditEvent {
  const status = reply.statusCode;
  const refusal = status >= 400 ? request.refusal : null;
  return {
    event: 'api_access',
    outcome: status < 400 ? 'allowed' : status < 500 ? 'denied' : 'error',
    actor: actorOf(request.raw),
    tenant: request.space?.tenant ?? claimOf(request.raw)?.record.tenant ?? null,
    request: {
      id: request.id,
      method: request.method,
      path: pathWithoutTokens(pathOf(request)).slice(0, maxPathLength),
      status,
      ip: request.clientAddress,
      user_agent: request.headers['user-agent']?.slice(0, maxAgentLength) ?? null,
      duration_ms: Math.round(reply.elapsedTime),
    },
    resource: resourceOf(request, reply),
    details: {
      ...request.change?.details,
      ...(request.method === 'POST' && submissionFacts(request.body, config, refusal)),
      ...(refusal && rejectionFacts(refusal)),
      ...unprovenClaim(request.raw),
    },
  };
}

const kinds: Record<string, string> = {
  scans: 'scan',
  jobs: 'job',
  modules: 'module',
  profiles: 'profile',
  dags: 'dag',
  plugins: 'plugin',
  tokens: 'token',
};

function resourceOf(request: FastifyRequest, reply: FastifyReply): AuditEvent['resource'] {
  if (request.change) return { type: request.change.type, id: request.change.id };
  const { scan_id: scanId, job_id: jobId } = (request.params ?? {}) as Record<string, string | undefined>;
  if (scanId !== undefined) return { type: 'scan', id: scanIdPattern.test(scanId) ? scanId : null };
  if (jobId !== undefined) return { type: 'job', id: jobIdPattern.test(jobId) ? jobId : null };
  const url = routeOf(request).url ?? '';
  const name = /^\/(?:api\/v1\/)?([a-z]+)/.exec(url)?.[1];
  if (name === undefined) return null;
  const made = /\/([a-z0-9-]+)$/.exec(String(reply.getHeader('location') ?? ''))?.[1];
  return { type: kinds[name] ?? name, id: made ?? null };
}

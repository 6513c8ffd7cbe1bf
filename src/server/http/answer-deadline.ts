import type { FastifyReply, FastifyRequest } from 'fastify';
import { PortolanError } from '../../domain/errors.ts';
import type { App } from './app-type.ts';
import { sendError } from './errors.ts';
import { routeOf } from './routes.ts';

/** Late answers are looked for this often. */
const lookMs = 1000;

/**
 * Answers 504 when a handler takes too long. Fastify's own handlerTimeout sets a timer and an abort signal for each
 * request, which costs as much as a quarter of a small answer; here all requests share one timer.
 *
 * @param clock monotonic milliseconds
 */
export class AnswerDeadline {
  readonly #limitMs: number;
  readonly #clock: () => number;
  /** Requests under way and when they came, the oldest first. */
  readonly #open = new Map<FastifyReply, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, clock: () => number = () => performance.now()) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#timer = setInterval(() => this.look(), Math.min(lookMs, limitMs)).unref();
  }

  addHooks(app: App): void {
    app.addHook('onRequest', (request, reply, done) => {
      if (!isExempt(request)) this.#open.set(reply, this.#clock());
      done();
    });
    app.addHook('onResponse', (_request, reply, done) => {
      this.#open.delete(reply);
      done();
    });
    app.addHook('onClose', async () => clearInterval(this.#timer));
  }

  /** Ends what is late. */
  look(): void {
    const now = this.#clock();
    for (const [reply, since] of this.#open) {
      if (now - since < this.#limitMs) return;
      this.#open.delete(reply);
      if (!reply.sent) sendError(late(this.#limitMs), reply.request, reply);
    }
  }
}

/** Routes that stream end by themselves; those that can be aborted have a timer of fastify's with a signal. */
function isExempt(request: FastifyRequest): boolean {
  const { config } = routeOf(request);
  return (config?.streams ?? false) || (config?.abortable ?? false);
}

function late(limitMs: number): PortolanError {
  return new PortolanError('timeout', `The answer took longer than ${limitMs / 1000} s.`);
}

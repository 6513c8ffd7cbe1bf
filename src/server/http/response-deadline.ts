import type { FastifyReply, FastifyRequest } from 'fastify';
import { PortolanError } from '../../domain/errors.ts';
import type { App, OpenRequest } from './app-type.ts';
import { sendError } from './errors.ts';
import { routeOf } from './routes.ts';

/** Interval of the deadline check, milliseconds. */
const lookMs = 1000;

/**
 * Responds with 504 when a handler takes too long. Fastify's handlerTimeout creates a timer and an abort signal per
 * request, which costs a quarter of a small response, and its signal aborts as soon as a body of several chunks has been
 * read; here all requests share one timer.
 *
 * @param clock monotonic milliseconds
 */
export class ResponseDeadline {
  readonly #limitMs: number;
  readonly #clock: () => number;
  /** Unordered: a Map would be rehashed for every second request. */
  readonly #open: OpenRequest[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, clock: () => number = () => performance.now()) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#timer = setInterval(() => this.look(), Math.min(lookMs, limitMs)).unref();
  }

  addHooks(app: App): void {
    app.decorateRequest('openAnswer', null);
    app.addHook('onRequest', (request, reply, done) => {
      if (!routeOf(request).config?.streams) request.openAnswer = this.#add(reply);
      done();
    });
    app.addHook('onResponse', (request, _reply, done) => {
      if (request.openAnswer) this.#remove(request.openAnswer);
      done();
    });
    app.addHook('onClose', async () => clearInterval(this.#timer));
  }

  /** Ends late responses. */
  look(): void {
    const latest = this.#clock() - this.#limitMs;
    for (const open of this.#open.filter(({ since }) => since <= latest)) {
      this.#remove(open);
      const { reply } = open;
      if (reply.sent) continue;
      sendError(late(this.#limitMs), reply.request, reply);
      // What the handler returns later is not sent, nor logged as a second response.
      reply.hijack();
      open.abort?.abort();
    }
  }

  #add(reply: FastifyReply): OpenRequest {
    const open = { reply, since: this.#clock(), at: this.#open.length, abort: null };
    this.#open.push(open);
    return open;
  }

  /** Removes by swapping with the last one. */
  #remove(open: OpenRequest): void {
    if (open.at === -1) return;
    const last = this.#open.pop() as OpenRequest;
    if (last !== open) {
      this.#open[open.at] = last;
      last.at = open.at;
    }
    open.at = -1;
  }
}

/** Aborts when the response is late or the client is gone; for routes that do not stream. */
export function abortSignal({ openAnswer: open }: FastifyRequest): AbortSignal {
  if (open === null) throw new Error('a route that streams has no deadline');
  if (open.abort === null) {
    const abort = new AbortController();
    open.abort = abort;
    // The response, not the request: that is closed as soon as its body has been read.
    open.reply.raw.once('close', () => abort.abort());
  }
  return open.abort.signal;
}

function late(limitMs: number): PortolanError {
  return new PortolanError('timeout', `The response took longer than ${limitMs / 1000} s.`);
}

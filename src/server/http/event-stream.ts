import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Interval at which the token of a stream is checked, milliseconds. */
export const tokenCheckMs = 1000;

/** What keeps a silent connection open. */
export interface Heartbeat {
  everyMs: number;
  /** Text of one, as sent. */
  text: () => string;
}

/** A response of server-sent events. It ends when the client leaves, or its token becomes invalid. */
export class EventStream {
  /** Aborted when the client has left, or has lost its access. */
  readonly gone: AbortSignal;
  readonly #gone = new AbortController();
  readonly #response: ServerResponse;
  readonly #timers: NodeJS.Timeout[];

  /** Sends the headers. */
  constructor(request: FastifyRequest, reply: FastifyReply, { everyMs, text }: Heartbeat) {
    this.gone = this.#gone.signal;
    this.#response = reply.raw;
    openStream(reply);
    this.#response.once('close', () => this.#gone.abort());
    // Disconnected before: there will be no further event about it.
    if (this.#response.destroyed) this.#gone.abort();
    const { tokenHolds } = request;
    this.#timers = [
      setInterval(() => {
        if (!this.#response.writableNeedDrain) this.#response.write(text());
      }, everyMs),
      setInterval(() => {
        void tokenHolds?.().then((holds) => holds || this.#gone.abort());
      }, tokenCheckMs),
    ];
  }

  /** Sends texts of events at the speed of the client. @param stop aborted when no client may be waited for any longer */
  async send(texts: AsyncIterable<string | Buffer>, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.gone, stop]);
    for await (const text of texts) {
      if (!this.#response.write(text)) await this.#drained(signal);
      if (this.gone.aborted) return;
    }
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#response.end();
  }

  /** Resolves when the client has received pending data, or has disconnected. */
  async #drained(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#response.destroyed) return;
    await once(this.#response, 'drain', { signal }).catch(() => undefined);
  }
}

function openStream(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
}

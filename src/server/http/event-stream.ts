import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Interval at which the token of a stream is checked, milliseconds. */
export const tokenCheckMs = 1000;

/** An event on the wire; `data` is one line. */
interface WireEvent {
  event: string;
  id?: string | number | null | undefined;
  data: string;
}

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

  /** Sends events at the speed of the client. @param stop aborted when no client may be waited for any longer */
  async send(events: AsyncIterable<WireEvent>, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.gone, stop]);
    for await (const event of events) {
      if (!this.#response.write(eventText(event))) await this.#drained(signal);
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

/** Text of an event as sent. */
export function eventText({ event, id = null, data }: WireEvent): string {
  const number = id === null ? '' : `id: ${id}\n`;
  return `event: ${event}\n${number}data: ${data}\n\n`;
}

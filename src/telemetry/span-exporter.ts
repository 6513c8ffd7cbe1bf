import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from './span.ts';
import type { TraceSettings } from './trace-settings.ts';

/** Spans of one request. */
const maxBatch = 512;
/** Spans that wait for a slow receiver; beyond it they are dropped. */
const maxQueuedSpans = 8192;
/** Interval of requests, milliseconds. */
const flushMs = 5000;
/** Timeout of one request, milliseconds. */
const requestTimeoutMs = 10_000;
/** Pauses before a batch is sent again, milliseconds. */
const retryDelaysMs: readonly number[] = [1000, 3000, 9000];
/** Longest pause that a receiver may ask for, milliseconds. */
const maxRetryAfterMs = 30_000;
/** Responses after which the same request may succeed (OTLP/HTTP). */
const retryable = new Set([429, 502, 503, 504]);

export interface SpanExporterInput extends Pick<TraceSettings, 'url' | 'headers'> {
  bodyOf: (spans: readonly Span[]) => string;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  requestTimeoutMs?: number;
  retryDelaysMs?: readonly number[];
}

/** How a request ended: `again` is the pause that the receiver asks for, null = not to be retried. */
type Sent = { ok: true } | { ok: false; reason: string; again: number | null };

/** Sends spans in the background. Nobody waits for it, and what cannot be sent is dropped and counted. */
export class SpanExporter {
  readonly #input: SpanExporterInput;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #queue: Span[] = [];
  #sending: Promise<void> | null = null;
  /** Spans that no receiver got. */
  #dropped = 0;
  /** The log has the failure. */
  #failing = false;

  constructor(input: SpanExporterInput) {
    this.#input = input;
    this.#timer = setInterval(() => this.#flush(), flushMs).unref();
  }

  get dropped(): number {
    return this.#dropped;
  }

  add(spans: readonly Span[]): void {
    const room = maxQueuedSpans - this.#queue.length;
    this.#queue.push(...spans.slice(0, room));
    if (spans.length > room) this.#drop(spans.length - room, 'too many spans wait');
    if (this.#queue.length >= maxBatch) this.#flush();
  }

  /** Sends what waits, for no longer than this. */
  async close(timeoutMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    const late = setTimeout(() => this.#closing.abort(), timeoutMs);
    await this.#sending;
    clearTimeout(late);
    if (this.#dropped > 0) this.#input.log.warn({ spans: this.#dropped }, 'spans dropped');
  }

  #flush(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, maxBatch);
      this.#queue = this.#queue.slice(maxBatch);
      await this.#sendBatch(batch);
    }
  }

  async #sendBatch(spans: readonly Span[]): Promise<void> {
    const { bodyOf, retryDelaysMs: delays = retryDelaysMs, log } = this.#input;
    const { signal } = this.#closing;
    const body = bodyOf(spans);
    for (let tries = 0; ; tries++) {
      const sent = await this.#post(body);
      if (sent.ok) {
        if (this.#failing) log.info({}, 'trace export works again');
        this.#failing = false;
        return;
      }
      const delay = delays[tries];
      if (sent.again === null || delay === undefined || signal.aborted)
        return this.#drop(spans.length, sent.reason);
      await sleep(Math.max(delay, sent.again), undefined, { signal }).catch(() => undefined);
    }
  }

  async #post(body: string): Promise<Sent> {
    const { url, headers, requestTimeoutMs: limit = requestTimeoutMs } = this.#input;
    if (this.#closing.signal.aborted) return { ok: false, reason: 'stopped', again: null };
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(limit)]);
      const own = { ...headers, 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers: own, body, redirect: 'manual', signal });
      // Waiting for its end would let the receiver keep the connection open.
      void response.body?.cancel().catch(() => undefined);
      if (response.ok) return { ok: true };
      const again = retryable.has(response.status) ? retryAfterMs(response.headers) : null;
      return { ok: false, reason: `HTTP ${response.status}`, again };
    } catch (error) {
      return { ok: false, reason: codeOf(error), again: 0 };
    }
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count;
    if (!this.#failing) this.#input.log.warn({ reason, spans: count }, 'trace export failed, spans dropped');
    this.#failing = true;
  }
}

/** Seconds only; a date says nothing on a clock that is not the receiver's. */
function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, maxRetryAfterMs) : 0;
}

/** Never a URL. */
function codeOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return name === 'TimeoutError' ? 'timed out' : (cause?.code ?? 'sending failed');
}

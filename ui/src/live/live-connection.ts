import { EventText, type StreamEvent } from './event-text.ts';
import {
  firstState,
  type LiveMessage,
  type LiveState,
  type StreamAccess,
  type TabEvent,
} from './live-state.ts';

/** The server sends its time every two seconds; without a byte for this long it is lost, milliseconds. */
const silenceMs = 4500;
/** Interval of messages to the tabs: a fast scan has thousands of events a second. */
const batchMs = 100;
/** Interval at which tabs learn that bytes arrived. */
const byteMs = 1000;
const retryMs = { first: 500, longest: 10_000, refused: 15_000 };

/** One event stream of the whole service, opened again whenever it ends, without a gap. */
export class LiveConnection {
  readonly #access: StreamAccess;
  readonly #tell: (message: LiveMessage) => void;
  #scans: readonly string[] = [];
  #state: LiveState = { ...firstState, since: Date.now() };
  #opened: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #failures = 0;
  #isClosed = false;
  /** Events between a new connection and the first time signal are those that were missed. */
  #isCatchingUp = false;
  /** Events that the tabs did not get yet. */
  #batch: TabEvent[] = [];
  #batchTimer: ReturnType<typeof setTimeout> | null = null;
  #batchSentAt = 0;

  /** @param scans whose rows to follow at first */
  constructor(access: StreamAccess, tell: (message: LiveMessage) => void, scans: readonly string[]) {
    this.#access = access;
    this.#scans = sortedOnce(scans);
    this.#tell = tell;
    void this.#open();
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Also the records of these scans. */
  follow(scans: readonly string[]): void {
    const wanted = sortedOnce(scans);
    if (wanted.join() === this.#scans.join()) return;
    this.#scans = wanted;
    this.#reopen();
  }

  close(): void {
    this.#isClosed = true;
    this.#opened?.abort();
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
  }

  #reopen(): void {
    this.#opened?.abort();
    if (this.#retry !== null) clearTimeout(this.#retry);
    void this.#open();
  }

  async #open(): Promise<void> {
    const opened = new AbortController();
    this.#opened = opened;
    const silence = new Silence(() => opened.abort());
    try {
      const response = await this.#request(opened.signal);
      if (response.status === 401) return this.#rejected();
      // A token for other things than scans: nothing to retry.
      if (response.status === 403) return this.#change({ state: 'forbidden' });
      if (response.status === 429) return this.#again('refused');
      if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
      await this.#read(response.body, silence);
      throw new Error('ended');
    } catch {
      // Another connection took over, or nobody listens any more.
      if (this.#opened !== opened || this.#isClosed) return;
      this.#again(this.#failures > 0 ? 'offline' : 'reconnecting');
    } finally {
      silence.end();
    }
  }

  async #request(signal: AbortSignal): Promise<Response> {
    const search = new URLSearchParams(this.#scans.map((scan) => ['scan', scan]));
    const { lastEventId } = this.#state;
    return await fetch(`${this.#access.url}?${search}`, {
      headers: {
        ...this.#access.headers,
        accept: 'text/event-stream',
        ...(lastEventId !== null && { 'last-event-id': lastEventId }),
      },
      cache: 'no-store',
      signal,
    });
  }

  async #read(body: ReadableStream<Uint8Array>, silence: Silence): Promise<void> {
    const text = new EventText();
    const decoder = new TextDecoder();
    this.#isCatchingUp = this.#state.lastEventId !== null;
    this.#change({ missed: 0 });
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      silence.broken();
      this.#failures = 0;
      this.#noteByte();
      for (const event of text.add(decoder.decode(part, { stream: true }))) this.#receive(event);
      this.#sendSoon();
    }
  }

  #noteByte(): void {
    const { state, lastByteAt } = this.#state;
    const now = Date.now();
    if (state === 'live' && lastByteAt !== null && Math.abs(now - lastByteAt) < byteMs) return;
    this.#change({ state: 'live', lastByteAt: now });
  }

  #receive({ event, id, data }: StreamEvent): void {
    if (id !== null) this.#change({ lastEventId: id }, false);
    if (event === 'hello' || event === 'time') {
      if (event === 'time') {
        this.#sendBatch();
        this.#isCatchingUp = false;
      }
      this.#change(serverFacts(data));
      return;
    }
    if (this.#isCatchingUp && id !== null) this.#change({ missed: this.#state.missed + 1 }, false);
    if (event === 'draining') this.#change({ draining: { saved: numberIn(data, 'saved') } });
    this.#batch.push({ event, id, data, scan: followedScan(event, data) });
  }

  /** At once after a pause: timers of hidden tabs are late. */
  #sendSoon(): void {
    const wait = this.#batchSentAt + batchMs - performance.now();
    if (wait <= 0) this.#sendBatch();
    else if (this.#batch.length > 0) this.#batchTimer ??= setTimeout(() => this.#sendBatch(), wait);
  }

  #sendBatch(): void {
    if (this.#batchTimer !== null) clearTimeout(this.#batchTimer);
    this.#batchTimer = null;
    if (this.#batch.length === 0) return;
    const events = this.#batch;
    this.#batch = [];
    this.#batchSentAt = performance.now();
    if (this.#isCatchingUp) this.#tell({ kind: 'state', state: this.#state });
    this.#tell({ kind: 'events', events });
  }

  #rejected(): void {
    this.#isClosed = true;
    this.#tell({ kind: 'rejected' });
  }

  #again(state: LiveState['state']): void {
    this.#failures += 1;
    this.#change({ state });
    const wait = Math.min(retryMs.first * 2 ** (this.#failures - 1), retryMs.longest);
    this.#retry = setTimeout(() => void this.#open(), state === 'refused' ? retryMs.refused : wait);
  }

  #change(changes: Partial<LiveState>, announce = true): void {
    const isNew = changes.state !== undefined && changes.state !== this.#state.state;
    this.#state = { ...this.#state, ...changes, ...(isNew && { since: Date.now() }) };
    if (announce) this.#tell({ kind: 'state', state: this.#state });
  }
}

/** Ends a connection that brings no byte for too long. */
class Silence {
  readonly #onTooLong: () => void;
  #timer: ReturnType<typeof setTimeout>;

  constructor(onTooLong: () => void) {
    this.#onTooLong = onTooLong;
    this.#timer = setTimeout(onTooLong, silenceMs);
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTooLong, silenceMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function sortedOnce(scans: readonly string[]): string[] {
  return [...new Set(scans)].sort();
}

const scanEvents = new Set(['host', 'port', 'finding', 'warning', 'progress', 'status', 'end']);

/** The scan whose stream an event comes from; null for events of the service. */
function followedScan(event: string, data: string): string | null {
  if (!scanEvents.has(event)) return null;
  // The server names it first.
  return /^\{"scan_id":"([^"]+)"/.exec(data)?.[1] ?? null;
}

function serverFacts(data: string): Partial<LiveState> {
  const facts: unknown = JSON.parse(data);
  if (typeof facts !== 'object' || facts === null) return {};
  const { server_time, draining } = facts as { server_time?: unknown; draining?: unknown };
  const time = typeof server_time === 'string' ? Date.parse(server_time) : Number.NaN;
  return {
    ...(Number.isFinite(time) && { clockOffset: time - Date.now() }),
    ...(draining === false && { draining: null }),
  };
}

function numberIn(data: string, name: string): number {
  const facts = JSON.parse(data) as Record<string, unknown>;
  return typeof facts[name] === 'number' ? facts[name] : 0;
}

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** PostgreSQL channels: changes of shards, with the ID of their scan as payload, and shards to claim, without one. */
const channels = { shards: 'portolan_shards', work: 'portolan_work' } as const;
type News = keyof typeof channels;
const notifying =
  'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as told (channel, payload)';
/** Reconnect delay, milliseconds. Meanwhile everybody polls. */
const retryMs = 2000;
const connectMs = 5000;
/** Pause after a statement: what is told meanwhile goes with the next one, milliseconds. */
const pauseMs = 10;
/** Longest wait for the last statement, milliseconds. */
const lastMs = 1000;
/** Timeout of a statement, milliseconds; the connection is opened again. */
const statementMs = 10_000;

/**
 * Notifies about changes of the shards of a scan across hosts (LISTEN and NOTIFY). Nothing depends on it: without
 * notifications everybody polls. A pooler in transaction mode delivers none.
 *
 * Notifications have a connection of their own: a transaction that notifies holds a lock of the whole database until its commit is
 * on the disk, and all others that notify wait for it.
 */
export class WakeUps {
  readonly #url: string;
  readonly #listeners = { shards: new Set<(scanId: string) => void>(), work: new Set<() => void>() };
  readonly #closing = new AbortController();
  #client: pg.Client | null = null;
  /** Payloads to send. */
  readonly #told = { shards: new Set<string>(), work: new Set<string>() };
  /** Statements, one after another. */
  #sending: Promise<void> | null = null;
  readonly #listening: Promise<void>;

  /** @param url of the database */
  constructor(url: string) {
    this.#url = url;
    this.#listening = this.#keepListening();
  }

  /** @param wake called with the ID of each scan that changed, or without for work @returns unsubscribe */
  on<N extends News>(news: N, wake: N extends 'shards' ? (scanId: string) => void : () => void): () => void {
    const listeners: Set<(scanId: string) => void> = this.#listeners[news];
    listeners.add(wake);
    return () => listeners.delete(wake);
  }

  /**
   * Notifies all hosts; call it after the commit. A lost notification is harmless.
   * @param scanId of the changed shards; none for work
   */
  tell(news: News, scanId = ''): void {
    this.#told[news].add(scanId);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    // What changes in the same turn goes together.
    await Promise.resolve();
    for (let told = this.#take(); told.length > 0; told = this.#take()) {
      const client = this.#client;
      const values = [told.map(({ channel }) => channel), told.map(({ payload }) => payload)];
      await client?.query(notifying, values).catch(() => client.end().catch(() => undefined));
      await sleep(pauseMs);
    }
    // In the turn of the last look: nothing was told since.
    this.#sending = null;
  }

  #take(): { channel: string; payload: string }[] {
    const told = Object.entries(this.#told).flatMap(([news, payloads]) =>
      [...payloads].map((payload) => ({ channel: channels[news as News], payload })),
    );
    for (const payloads of Object.values(this.#told)) payloads.clear();
    return told;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.race([this.#sending, sleep(lastMs, undefined, { ref: false })]);
    await this.#client?.end().catch(() => undefined);
    await this.#listening;
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#listen().catch(() => undefined);
      await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Runs until the connection ends. */
  async #listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs,
      keepAlive: true,
      application_name: 'portolan wake-ups',
    });
    const over = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      const { shards, work } = this.#listeners;
      for (const wake of channel === channels.work ? work : shards) wake(payload);
    });
    try {
      await client.connect();
      this.#client = client;
      for (const channel of Object.values(channels)) await client.query(`listen ${channel}`);
      if (!this.#closing.signal.aborted) await over;
    } finally {
      this.#client = null;
      await client.end().catch(() => undefined);
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** PostgreSQL channels: changes of shards, with the ID of their scan as payload, and shards to claim, without one. */
const channels = { shards: 'portolan_shards', work: 'portolan_work' } as const;
type Channel = keyof typeof channels;
const notifying =
  'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as unsent (channel, payload)';
/** Reconnect delay, milliseconds. Meanwhile everybody polls. */
const retryMs = 2000;
const connectMs = 5000;
/** Pause after a statement: what is to be sent meanwhile goes with the next one, milliseconds. */
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
  readonly #unsent = { shards: new Set<string>(), work: new Set<string>() };
  /** Statements, one after another. */
  #sending: Promise<void> | null = null;
  readonly #listening: Promise<void>;

  /** @param url of the database */
  constructor(url: string) {
    this.#url = url;
    this.#listening = this.#keepListening();
  }

  /** @param wake called with the ID of each scan that changed, or without for work @returns unsubscribe */
  on<C extends Channel>(
    channel: C,
    wake: C extends 'shards' ? (scanId: string) => void : () => void,
  ): () => void {
    const listeners: Set<(scanId: string) => void> = this.#listeners[channel];
    listeners.add(wake);
    return () => listeners.delete(wake);
  }

  /**
   * Notifies all hosts; call it after the commit. A lost notification is harmless.
   * @param scanId of the changed shards; none for work
   */
  notify(channel: Channel, scanId = ''): void {
    this.#unsent[channel].add(scanId);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    // What changes in the same turn goes together.
    await Promise.resolve();
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const client = this.#client;
      const values = [batch.map(({ channel }) => channel), batch.map(({ payload }) => payload)];
      await client?.query(notifying, values).catch(() => client.end().catch(() => undefined));
      await sleep(pauseMs);
    }
    // In the turn of the last look: nothing was added since.
    this.#sending = null;
  }

  #take(): { channel: string; payload: string }[] {
    const batch = Object.entries(this.#unsent).flatMap(([channel, payloads]) =>
      [...payloads].map((payload) => ({ channel: channels[channel as Channel], payload })),
    );
    for (const payloads of Object.values(this.#unsent)) payloads.clear();
    return batch;
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

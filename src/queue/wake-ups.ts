import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Store } from '../store/open.ts';
import { shardChannel, workChannel } from '../store/shard-jobs.ts';

/** PostgreSQL channels: changes of shards, with the ID of their scan as payload, and shards to claim, without one. */
const channels = { shards: shardChannel, work: workChannel } as const;
type News = keyof typeof channels;
/** Reconnect delay, milliseconds. Meanwhile everybody polls. */
const retryMs = 2000;
const connectMs = 5000;

/**
 * Notifies about changes of the shards of a scan across hosts (LISTEN and NOTIFY). Nothing depends on it: without
 * notifications everybody polls. A pooler in transaction mode delivers none.
 */
export class WakeUps {
  readonly #url: string;
  readonly #listeners = { shards: new Set<(scanId: string) => void>(), work: new Set<() => void>() };
  readonly #closing = new AbortController();
  #client: pg.Client | null = null;
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

  async close(): Promise<void> {
    this.#closing.abort();
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

/** Notifies everybody; within a transaction, at commit. A lost notification is harmless. */
export async function wakeEverybody(store: Store, scanId: string): Promise<void> {
  await store.execute('select pg_notify($1, $2)', [channels.shards, scanId]);
}

/** Notifies workers of shards to claim. */
export async function wakeWorkers(store: Store): Promise<void> {
  await store.execute('select pg_notify($1, $2)', [channels.work, '']);
}

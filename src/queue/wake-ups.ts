import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Store } from '../store/open.ts';

/** PostgreSQL channel for changes of shards; the payload is the ID of their scan. */
const channel = 'portolan_shards';
/** Reconnect delay, milliseconds. Meanwhile everybody polls. */
const retryMs = 2000;
const connectMs = 5000;

/**
 * Notifies about changes of the shards of a scan across hosts (LISTEN and NOTIFY). Nothing depends on it: without
 * notifications everybody polls. A pooler in transaction mode delivers none.
 */
export class WakeUps {
  readonly #url: string;
  readonly #listeners = new Set<(scanId: string) => void>();
  readonly #closing = new AbortController();
  #client: pg.Client | null = null;
  readonly #listening: Promise<void>;

  /** @param url of the database */
  constructor(url: string) {
    this.#url = url;
    this.#listening = this.#keepListening();
  }

  /** Calls `wake` with the ID of each scan that changed. @returns unsubscribe */
  on(wake: (scanId: string) => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
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
    client.on('notification', ({ payload = '' }) => {
      for (const wake of this.#listeners) wake(payload);
    });
    try {
      await client.connect();
      this.#client = client;
      await client.query(`listen ${channel}`);
      if (!this.#closing.signal.aborted) await over;
    } finally {
      this.#client = null;
      await client.end().catch(() => undefined);
    }
  }
}

/** Notifies everybody; within a transaction, at commit. A lost notification is harmless. */
export async function wakeEverybody(store: Store, scanId: string): Promise<void> {
  await store.execute('select pg_notify($1, $2)', [channel, scanId]);
}

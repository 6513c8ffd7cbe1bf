import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../src/store/open.ts';
import { contentTables } from '../src/store/schema/table-rows.ts';
import { postgresObstacle, storeDatabase } from './postgres.ts';

/** A kind of database that stores of tests lie in. */
export interface StoreEngine {
  name: 'SQLite' | 'PostgreSQL';
  /** Why it cannot be had here. */
  skip: string | null;
  begin(): Promise<void>;
  /** Removes all that was made. */
  end(): Promise<void>;
  /** An empty store; what an earlier call gave is over. */
  empty(): Promise<Store>;
  /** Where that store lies, for further ones on it. */
  place(): string;
}

/** Both kinds. What they hold is not kept over a power cut: that is not what tests of queries are about. */
export function storeEngines(): StoreEngine[] {
  return [new SqliteEngine(), new PostgresEngine()];
}

class SqliteEngine implements StoreEngine {
  readonly name = 'SQLite';
  readonly skip = null;
  #dir = '';
  #files = 0;
  #store: Store | null = null;

  async begin(): Promise<void> {
    this.#dir = await mkdtemp(join(tmpdir(), 'portolan-store-'));
  }

  place(): string {
    return join(this.#dir, `${this.#files}.db`);
  }

  async empty(): Promise<Store> {
    await this.#store?.close();
    this.#files += 1;
    this.#store = await openStore(this.place());
    return this.#store;
  }

  async end(): Promise<void> {
    await this.#store?.close();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** One database, which is emptied for each test. */
class PostgresEngine implements StoreEngine {
  readonly name = 'PostgreSQL';
  readonly skip = postgresObstacle();
  #url = '';
  #store: Store | null = null;

  async begin(): Promise<void> {
    this.#url = await storeDatabase();
    this.#store = await openStore(this.#url);
  }

  place(): string {
    return this.#url;
  }

  async empty(): Promise<Store> {
    if (this.#store === null) throw new Error('begin() comes first');
    const tables = [...contentTables, 'servers', 'workers', 'leases'].map((table) => `portolan.${table}`);
    await this.#store.execute(`truncate ${tables.join(', ')}`, []);
    return this.#store;
  }

  async end(): Promise<void> {
    await this.#store?.close();
  }
}

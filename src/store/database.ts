import { type Kysely, PostgresAdapter } from 'kysely';

/**
 * Isolation of a transaction (https://www.postgresql.org/docs/15/transaction-iso.html). `serializable`: what it has read holds
 * until its end. `read committed`: for frequent ones whose statements are safe by themselves, by conditions on the rows that they
 * write, row locks and unique constraints; they conflict less. SQLite, which has one writer at a time, serializes all.
 */
export type Isolation = 'serializable' | 'read committed';

/** An open database, SQLite or PostgreSQL. */
export interface Database<Tables> {
  db: Kysely<Tables>;
  /** Executor of the scans that this process creates: `server`, or `server:<id>` if several share the database. */
  executor: string;
  /** Changes after every write; at every call where writes cannot be detected cheaply. */
  version(): string;
  /**
   * Runs `work` in a write transaction, again from its beginning when it conflicted with another one.
   * @throws PortolanError `unavailable` after too many conflicts
   */
  transaction<T>(work: (transaction: Kysely<Tables>) => Promise<T>, isolation: Isolation): Promise<T>;
  /** Releases up to `most` free pages of the file to the disk. Call it while nothing else uses the database. */
  releasePages(most: number): Promise<void>;
  /** Calls `listener` with the reason whenever a statement finds the file damaged; PostgreSQL has its own checks. */
  onDamage(listener: (reason: string) => void): void;
  /** Checkpoints the write-ahead log of a file. */
  emptyLog(): Promise<void>;
}

/** Otherwise SQLite, whose statements run on the event loop. */
export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

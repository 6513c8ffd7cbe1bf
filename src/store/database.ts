import { type Kysely, PostgresAdapter } from 'kysely';

/** An open database, SQLite or PostgreSQL. */
export interface Database<Tables> {
  db: Kysely<Tables>;
  /** Executor of the scans that this process creates: `server`, or `server:<id>` if several share the database. */
  executor: string;
  /** Changes after every write; at every call where writes cannot be detected cheaply. */
  version(): string;
  /**
   * Runs `work` in a write transaction. Transactions of all processes are serialized: what `work` reads holds until
   * the end.
   */
  transaction<T>(work: (transaction: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Releases up to `most` free pages of the file to the disk. Call it while nothing else uses the database. */
  releasePages(most: number): Promise<void>;
  /** Checkpoints the write-ahead log of a file. */
  emptyLog(): Promise<void>;
}

/** Otherwise SQLite, whose statements run on the event loop. */
export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

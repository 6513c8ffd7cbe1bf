import { type Kysely, PostgresAdapter } from 'kysely';

/** An open database, whatever its kind. */
export interface Database<Tables> {
  db: Kysely<Tables>;
  /** Whose scans these are that this process makes: `server`, or `server:<id>` where several share the database. */
  executor: string;
  /** Text that is another one after every change; where changes cannot be told cheaply, at every call. */
  version(): string;
  /**
   * Runs `work` in a write transaction. Transactions of all processes run one after another, so what is read inside
   * holds until the end.
   */
  transaction<T>(work: (transaction: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Gives so many unused pages of a file back to the disk; to be called while nothing else uses the database. */
  releasePages(most: number): Promise<void>;
  /** Writes what waits in a file's log to its place. */
  emptyLog(): Promise<void>;
}

/** The other kind is SQLite, whose statements run on the event loop. */
export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

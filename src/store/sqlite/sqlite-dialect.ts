import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  sql,
} from 'kysely';
import { serverExecutor } from '../../domain/executor.ts';
import type { Database } from '../database.ts';
import { openDatabaseFile, translated } from './sqlite-file.ts';

/** Distinct SQL texts that stay prepared; the product has far fewer queries. */
const preparedStatements = 200;

/** Maximum delay until changes of other processes are seen, milliseconds. */
const othersMs = 10;

/** Kysely over `node:sqlite`: one connection, statements prepared once, transactions that take the write lock first. */
class NodeSqliteDialect extends SqliteDialect {
  readonly #database: PreparedDatabase;

  constructor(database: PreparedDatabase) {
    super({ database });
    this.#database = database;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#database);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: PreparedDatabase;

  constructor(database: PreparedDatabase) {
    super({ database });
    this.#database = database;
  }

  /** A deferred transaction that reads before it writes fails at once, without waiting, when another process wrote. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** On a full disk SQLite rolls back by itself; a second rollback would hide that error behind its own. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isInTransaction) await super.rollbackTransaction(connection);
  }
}

class TransactionalDdlAdapter extends SqliteAdapter {
  /** SQLite rolls back CREATE and ALTER like any statement, so a migration is done wholly or not at all. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class PreparedDatabase implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, SqliteStatement>();
  #dataVersion: StatementSync | null = null;
  #others = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #changes = 0;
  /** Called with the reason when a statement finds the file damaged. */
  onDamage: (reason: string) => void = () => undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  readonly #translated = <T>(call: () => T): T => translated(call, (reason) => this.onDamage(reason));

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const onUse = /^\s*select\b/i.test(sql) ? () => {} : () => void this.#changes++;
    const prepared = this.#translated(() => this.#database.prepare(sql));
    const statement = new PreparedStatement(prepared, onUse, this.#translated);
    if (this.#prepared.size >= preparedStatements) this.#prepared.clear();
    this.#prepared.set(sql, statement);
    return statement;
  }

  /**
   * Counts this process's changes; polls for those of other processes (https://www.sqlite.org/pragma.html,
   * data_version) at most every few milliseconds, because the pragma takes a tenth of the time of a response.
   */
  version(): string {
    const now = performance.now();
    if (now - this.#askedAt > othersMs) {
      this.#others = this.#translated(() => {
        this.#dataVersion ??= this.#database.prepare('pragma data_version');
        return (this.#dataVersion.get() as { data_version: number }).data_version;
      });
      this.#askedAt = now;
    }
    return `${this.#others}.${this.#changes}`;
  }

  /** Not prepared: a prepared statement would release one page per step (https://www.sqlite.org/pragma.html). */
  releasePages(most: number): void {
    this.#translated(() => this.#database.exec(`pragma incremental_vacuum(${most})`));
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }
}

class PreparedStatement implements SqliteStatement {
  readonly #statement: StatementSync;
  readonly #onUse: () => void;
  readonly #translated: <T>(call: () => T) => T;
  readonly reader: boolean;

  constructor(statement: StatementSync, onUse: () => void, translated: <T>(call: () => T) => T) {
    this.#statement = statement;
    this.#onUse = onUse;
    this.#translated = translated;
    this.reader = statement.columns().length > 0;
  }

  all(parameters: readonly unknown[]): unknown[] {
    this.#onUse();
    return this.#translated(() => this.#statement.all(...bound(parameters)));
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    this.#onUse();
    return this.#translated(() => this.#statement.run(...bound(parameters)));
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    this.#onUse();
    return this.#statement.iterate(...bound(parameters));
  }
}

function bound(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

/**
 * Opens or creates a database file with mode 0600.
 *
 * @throws PortolanError `configuration` if the file cannot be opened or is not a SQLite database
 */
export function openDatabase<Tables>(file: string): Database<Tables> {
  const database = new PreparedDatabase(openDatabaseFile(file));
  const dialect: Dialect = new NodeSqliteDialect(database);
  const db = new Kysely<Tables>({ dialect });
  return {
    db,
    executor: serverExecutor(null),
    version: () => database.version(),
    transaction: (work) => db.transaction().execute(work),
    releasePages: (most) => db.connection().execute(async () => database.releasePages(most)),
    onDamage: (listener) => {
      database.onDamage = listener;
    },
    emptyLog: async () => void (await sql`pragma wal_checkpoint(truncate)`.execute(db)),
  };
}

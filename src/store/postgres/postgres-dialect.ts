import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type QueryResult,
  sql,
} from 'kysely';
import pg from 'pg';
import { PortolanError } from '../../domain/errors.ts';
import { serverExecutor } from '../../domain/executor.ts';
import type { Database, Isolation } from '../database.ts';
import type { PreparedQuery } from '../prepared-statement.ts';
import { shownUrl } from './postgres-url.ts';

/** Schema of the tables, separate from other programs in the same database. */
const schema = 'portolan';
/** Connections per process. */
const maxConnections = 8;
/** Connect timeout, milliseconds. */
const connectMs = 5000;
/** Statement timeout including lock waits, milliseconds. */
const statementMs = 20_000;
/** A transaction without a statement for this long is rolled back, milliseconds: its program stands still, or is cut off. */
const idleInTransactionMs = 20_000;
/** Read timeout of a busy connection, milliseconds: a silent one was cut without notice. */
const silentMs = 25_000;

/** OID of bigint: epoch milliseconds, sizes and queue positions, all below 2^53. */
const bigintOid = 20;

/**
 * Errors of a network, of a server that starts, stops or is full, or that has ended a session that stood still; SQLSTATE classes
 * of PostgreSQL, appendix A.
 */
const unreachable = /^(E[A-Z]+|EAI_[A-Z]+|08...|25P03|53300|57P0[1-5])$/;
const refused = /^(28...|3D000)$/;

/** Unknown prepared statement, or one of the same name that another client has left; SQLSTATE. */
const foreignStatement = /^(26000|42P05)$/;

/** Serialization failure and deadlock: another transaction was first. */
const conflict = /^(40001|40P01)$/;
/** Of `read committed`: another transaction has inserted the row that this one had looked for. */
const uniqueViolation = '23505';
/** Attempts of a transaction that conflicts with others. */
const maxAttempts = 12;
/** Attempts of one that inserts a row that exists: the second attempt sees it. */
const maxInserts = 2;
/** Longest pause before the second attempt, and then times the number of attempts, milliseconds. */
const pauseMs = 5;

/**
 * Opens a PostgreSQL database; the tables are in the schema `portolan`.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param home id of the server that opens it; null for other programs
 * @throws PortolanError `unavailable` if the server cannot be reached, `configuration` if it rejects the connection
 */
export async function openPostgres<Tables>(url: string, home: string | null): Promise<Database<Tables>> {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    application_name: 'portolan',
    options: `-c search_path=${schema}`,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  pool.on('connect', (client) => {
    // Pending queries are rejected anyway; an unhandled error event would end the process.
    client.on('error', () => undefined);
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.setTimeout(silentMs, () => stream.destroy(new Error('connection terminated: no answer')));
  });
  // The pool replaces an idle connection that breaks.
  pool.on('error', () => undefined);
  try {
    await createSchema(pool);
  } catch (error) {
    await pool.end();
    throw openFailure(url, error);
  }
  return new PostgresDatabase<Tables>(pool, home);
}

/** Of two that create it at the same time one fails, in spite of `if not exists`: then it is there. */
async function createSchema(pool: pg.Pool): Promise<void> {
  const create = () => pool.query(`create schema if not exists ${schema}`);
  await create().catch(async (error: unknown) => {
    if ((error as { code?: string }).code !== uniqueViolation) throw error;
    await create();
  });
}

function parserOf(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === bigintOid && format !== 'binary') return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

class PostgresDatabase<Tables> implements Database<Tables> {
  readonly executor: string;
  readonly db: Kysely<Tables>;
  #asked = 0;

  constructor(pool: pg.Pool, home: string | null) {
    this.executor = serverExecutor(home);
    this.db = new Kysely<Tables>({ dialect: new TranslatingDialect({ pool }) });
  }

  version(): string {
    return String(++this.#asked);
  }

  async transaction<T>(work: (transaction: Kysely<Tables>) => Promise<T>, isolation: Isolation): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.db.transaction().setIsolationLevel(isolation).execute(work);
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (code === uniqueViolation && attempt < maxInserts) continue;
        if (!conflict.test(code)) throw error;
        if (attempt >= maxAttempts)
          throw new PortolanError('unavailable', 'The store is busy; try again.', {}, error);
        await sleep(Math.random() * pauseMs * attempt);
      }
    }
  }

  /** PostgreSQL reuses space by itself (autovacuum). */
  async releasePages(): Promise<void> {}

  onDamage(): void {}

  async emptyLog(): Promise<void> {}
}

/** Kysely over `pg`; translates failures to PortolanError. */
class TranslatingDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new TranslatingDriver(this.#config);
  }
}

class TranslatingDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>();
  /** Not behind a pooler that gives each transaction another connection. */
  #keepsStatements = true;

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await translated(() => super.acquireConnection());
    if (this.#known.has(connection)) return connection;
    this.#known.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async <R>(query: PreparedQuery<R>) =>
      await translated(async () =>
        query.isPrepared ? await this.#executePrepared(execute, query) : await execute(query),
      );
    return connection;
  }

  async #executePrepared<R>(
    execute: DatabaseConnection['executeQuery'],
    query: PreparedQuery<R>,
  ): Promise<QueryResult<R>> {
    if (!this.#keepsStatements) return await execute(query);
    try {
      // `pg` takes a text with a name in place of a text.
      const named = { name: createHash('sha1').update(query.sql).digest('hex'), text: query.sql };
      return await execute({ ...query, sql: named as unknown as string });
    } catch (error) {
      if (!foreignStatement.test((error as { code?: string }).code ?? '')) throw error;
      this.#keepsStatements = false;
      return await execute(query);
    }
  }
}

async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translateError(error);
  }
}

/** PortolanError `unavailable` or `insufficient_storage` for a failure of the database; others as they are. */
export function translateError(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === '53100')
    return new PortolanError('insufficient_storage', 'The disk of the database is full.', {}, error);
  const lost = /^(timeout exceeded|connection terminated|client has encountered)/i.test(message);
  if (lost || unreachable.test(code))
    return new PortolanError('unavailable', 'The store cannot be reached; try again.', {}, error);
  return error;
}

function openFailure(url: string, error: unknown): unknown {
  const { code = '', message, syscall } = error as NodeJS.ErrnoException;
  const place = shownUrl(url);
  // A missing file that the URL names, such as a certificate: no retry helps.
  if (syscall === 'open')
    return new PortolanError('configuration', `The store ${place} cannot be used: ${message}`, {}, error);
  if (refused.test(code))
    return new PortolanError('configuration', `The store ${place} refuses: ${message}`, {}, error);
  const known = translateError(error);
  if (!(known instanceof PortolanError))
    return new PortolanError('configuration', `The store ${place} cannot be used: ${message}`, {}, error);
  return new PortolanError(known.code, `The store ${place} cannot be reached: ${message}`, {}, error);
}

/** Advisory lock of programs that set up the database; an arbitrary number. */
const setUpLock = 7_061_991;

/**
 * Makes PostgreSQL compare text bytewise, as SQLite does, whatever the locale of the database. Idempotent; of several at the
 * same time one does it.
 */
export async function orderTextsByByte<Tables>(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (inside) => {
    await sql`select pg_advisory_xact_lock(${setUpLock}::bigint)`.execute(inside);
    const { rows } = await sql<{ table_name: string; column_name: string }>`
      select table_name, column_name from information_schema.columns
      where table_schema = ${schema} and data_type = 'text' and collation_name is distinct from 'C'
        and table_name not like 'kysely%'`.execute(inside);
    for (const { table_name: table, column_name: column } of rows)
      await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type text collate "C"`.execute(
        inside,
      );
  });
}

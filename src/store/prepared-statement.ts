import type { Compilable, CompiledQuery, Kysely } from 'kysely';

/** A statement that a connection to PostgreSQL keeps parsed and planned. */
export interface PreparedQuery<R = unknown> extends CompiledQuery<R> {
  isPrepared?: boolean;
}

/**
 * Runs a statement of few texts, whatever its values: long ones take PostgreSQL several times as long to parse and plan as to run.
 * @returns its rows
 */
export async function runPrepared<Tables, R>(db: Kysely<Tables>, query: Compilable<R>): Promise<R[]> {
  const prepared: PreparedQuery<R> = { ...query.compile(), isPrepared: true };
  return (await db.executeQuery<R>(prepared)).rows;
}

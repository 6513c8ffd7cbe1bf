import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle } from '../../test/postgres.ts';
import { openPostgres } from './postgres/postgres-dialect.ts';
import { runPrepared } from './prepared-statement.ts';

describe.skipIf(postgresObstacle() !== null)('a prepared statement', () => {
  let db: Kysely<unknown>;

  beforeEach(async () => {
    ({ db } = await openPostgres(await emptyDatabase(), null));
  });
  afterEach(() => db.destroy());

  const doubled = (inside: Kysely<unknown>, value: number) =>
    runPrepared(inside, inside.selectNoFrom(sql<number>`${value}::int * 2`.as('result')));
  const kept = async (inside: Kysely<unknown>) =>
    (await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(inside)).rows;

  it('is parsed once for a connection, whatever its values', async () => {
    await db.connection().execute(async (inside) => {
      for (const value of [1, 2, 3]) expect(await doubled(inside, value)).toEqual([{ result: 2 * value }]);
      expect(await kept(inside)).toEqual([{ statement: 'select $1::int * 2 as "result"' }]);
    });
  });

  it('runs without being kept where a pooler gives each transaction another connection', async () => {
    await db.connection().execute(async (inside) => {
      await doubled(inside, 1);
      // As on a connection that is another one now.
      await sql`deallocate all`.execute(inside);
      for (const value of [2, 3]) expect(await doubled(inside, value)).toEqual([{ result: 2 * value }]);
      expect(await kept(inside)).toEqual([]);
    });
  });

  it('that is wrong is an error as any other', async () => {
    const wrong = db.selectNoFrom(sql`1 / ${0}::int`.as('result'));
    for (let times = 0; times < 2; times++)
      await expect(runPrepared(db, wrong)).rejects.toMatchObject({ code: '22012' });
  });
});

import type { Store } from '../store/open.ts';

const clockQuery = 'select extract(epoch from clock_timestamp()) * 1000 as now';

/** Current time of the PostgreSQL server, epoch milliseconds: independent of the clocks of the hosts. */
export async function databaseTime(store: Pick<Store, 'execute'>): Promise<number> {
  const { rows } = await store.execute(clockQuery, []);
  return Math.round(Number((rows[0] as { now: unknown }).now));
}

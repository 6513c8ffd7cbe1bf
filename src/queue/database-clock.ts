import type { Store } from '../store/open.ts';

const clockQuery = 'select extract(epoch from clock_timestamp()) * 1000 as now';

/** What the clock of a PostgreSQL store says, epoch milliseconds: the clocks of hosts, set or not, have no part in it. */
export async function databaseTime(store: Pick<Store, 'execute'>): Promise<number> {
  const { rows } = await store.execute(clockQuery, []);
  return Math.round(Number((rows[0] as { now: unknown }).now));
}

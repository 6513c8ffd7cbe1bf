import type { SelectQueryBuilder } from 'kysely';

/** Number of rows that match a filter. */
export interface ListCount {
  total: number;
  /** There are more: the count has stopped. */
  totalIsMinimum: boolean;
}

/** Highest count in PostgreSQL where no table keeps it. */
const maxCounted = 100_000;

/** Rows to read for a count: one more shows that it is a minimum. */
export const countedRows = maxCounted + 1;

/** @param found of `countedRows` */
export function countOf(found: number): ListCount {
  return { total: Math.min(found, maxCounted), totalIsMinimum: found > maxCounted };
}

export function exactly(total: number): ListCount {
  return { total, totalIsMinimum: false };
}

/** Number of rows of a query that selects no columns yet. */
export async function numberOfRows<Tables, T extends keyof Tables>(
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<number> {
  const counted = query.select((e) => e.fn.countAll().as('rows'));
  const { rows } = (await counted.executeTakeFirstOrThrow()) as { rows: string | number | bigint };
  return Number(rows);
}

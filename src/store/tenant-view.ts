import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Tables } from './schema/tables.ts';

/**
 * Whose rows a table shows and writes: those of one tenant, those without a tenant (null), or all (undefined), which
 * only the service itself needs.
 */
export type TenantView = string | null | undefined;

type TenantTable = 'scans' | 'scan_queue' | 'scan_removals' | 'tokens' | 'outbox' | 'client_jobs';

/** Condition of every statement on scans and jobs. */
export function inView(view: TenantView) {
  return (e: ExpressionBuilder<Tables, TenantTable>): Expression<SqlBool> => {
    if (view === undefined) return e.and([]);
    return view === null ? e('tenant', 'is', null) : e('tenant', '=', view);
  };
}

/**
 * Like `inView`, but hides the condition from the query planner: SQLite would prefer the tenant index to the more
 * selective state index and read every ended row.
 */
export function searchedInView(view: TenantView) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> =>
    view === undefined ? e.and([]) : e(e.fn.coalesce('tenant', e.val('')), '=', view ?? '');
}

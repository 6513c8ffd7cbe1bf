import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Tables } from './schema/tables.ts';

/**
 * Whose rows a table shows and writes: those of one tenant, those without a tenant (null), or all (undefined), as only
 * the service itself needs them.
 */
export type TenantView = string | null | undefined;

/** The condition that every statement on scans and jobs carries. */
export function inView(view: TenantView) {
  return (
    e: ExpressionBuilder<Tables, 'scans' | 'scan_queue' | 'tokens' | 'outbox' | 'client_jobs'>,
  ): Expression<SqlBool> => {
    if (view === undefined) return e.and([]);
    return view === null ? e('tenant', 'is', null) : e('tenant', '=', view);
  };
}

/**
 * As `inView`, without the help of an index: SQLite takes an index of tenants for more selective than one of states,
 * and looks at all that has ended.
 */
export function searchedInView(view: TenantView) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> =>
    view === undefined ? e.and([]) : e(e.fn.coalesce('tenant', e.val('')), '=', view ?? '');
}

import { sql } from 'kysely';
import { isPostgres } from './database.ts';
import { ViewedTable } from './store-table.ts';

export interface RowCount {
  total: number;
  bytes: number;
}

/** Rows that accumulate before they are folded. */
const foldedFrom = 200;

/** Row counts of tables without reading the tables; see `counting-triggers.ts`. */
export class RowCounts extends ViewedTable {
  /** @param status count only rows with this status */
  async of(counted: 'scans' | 'client_jobs' | 'scan_queue', status?: string): Promise<RowCount> {
    const row = await this.#counted(counted, status)
      .select((e) => [e.fn.sum('total').as('total'), e.fn.sum('bytes').as('bytes')])
      .executeTakeFirst();
    return { total: Number(row?.total ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  /** The total of `of` as a part of another statement. */
  totalOf(counted: 'scan_queue', status: string) {
    return this.#counted(counted, status).select((e) => e.fn.sum('total').as('total'));
  }

  #counted(counted: string, status?: string) {
    const { view } = this;
    return this.db
      .selectFrom('row_counts')
      .where('counted', '=', counted)
      .$if(view !== undefined, (query) => query.where('tenant', '=', view ?? ''))
      .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''));
  }

  /** Tenants with rows in one of the states; '' for rows without a tenant. */
  async tenantsWith(counted: 'scan_queue', states: readonly string[]): Promise<string[]> {
    const rows = await this.db
      .selectFrom('row_counts')
      .select('tenant')
      .where('counted', '=', counted)
      .where('status', 'in', states)
      .groupBy('tenant')
      .having((e) => e.fn.sum('total'), '>', 0)
      .execute();
    return rows.map(({ tenant }) => tenant);
  }

  /** Folds the rows that changes have appended; call it periodically. */
  async fold(): Promise<void> {
    if (!isPostgres(this.db)) return;
    await sql`
      with folded as (
        delete from row_counts where (select count(*) from row_counts) > ${foldedFrom}
        returning counted, tenant, status, total, bytes
      )
      insert into row_counts
      select counted, tenant, status, sum(total), sum(bytes) from folded group by counted, tenant, status`.execute(
      this.db,
    );
  }
}

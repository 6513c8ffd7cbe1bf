import { ViewedTable } from '../store-table.ts';
import { inView } from '../tenant-view.ts';

/** A deleted scan. */
export interface ScanRemoval {
  scanId: string;
  tenant: string | null;
  /** By the clock of the database, epoch milliseconds. */
  removedAt: number;
}

/** Removals read at once; followers of the service miss further ones. */
export const maxRemovals = 100_000;

/** Scans that were deleted lately, by any process. */
export class ScanRemovalTable extends ViewedTable {
  /** Removals from a time on. @param from epoch milliseconds */
  async from(from: number): Promise<ScanRemoval[]> {
    const rows = await this.db
      .selectFrom('scan_removals')
      .select(['scan_id', 'tenant', 'removed_at'])
      .where('removed_at', '>=', from)
      .where(inView(this.view))
      .orderBy('removed_at')
      .limit(maxRemovals)
      .execute();
    return rows.map(({ scan_id, tenant, removed_at }) => ({
      scanId: scan_id,
      tenant,
      removedAt: Number(removed_at),
    }));
  }

  /** Time of the newest one of all tenants; 0 without any. */
  async newest(): Promise<number> {
    const row = await this.db
      .selectFrom('scan_removals')
      .select((e) => e.fn.max('removed_at').as('newest'))
      .executeTakeFirst();
    return Number(row?.newest ?? 0);
  }

  /** @param time epoch milliseconds */
  async deleteBefore(time: number): Promise<void> {
    await this.db.deleteFrom('scan_removals').where('removed_at', '<', time).execute();
  }
}

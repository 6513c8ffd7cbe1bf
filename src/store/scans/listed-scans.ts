import type { Kysely } from 'kysely';
import type { Scan } from '../../domain/scan.ts';
import { withoutHistory } from '../../domain/scan-progress.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { type StoredScan, scanFromRow, shortColumns } from './scan-row.ts';

/** A listed scan: with very many targets only the first ones and their number. */
export type ListedScan = Scan & { targets_total?: number };

export type ListedRow = StoredScan & { targets_total: number | null };

/** @param view tenant whose scans are listed */
export function selectListed(db: Kysely<Tables>, view: TenantView) {
  return (
    db
      .selectFrom('scans')
      .select(shortColumns)
      // Does not even read megabytes of targets.
      .select((e) => {
        const listing = e.selectFrom('scan_listings').whereRef('scan_listings.scan_id', '=', 'scans.scan_id');
        return [
          e.fn.coalesce(listing.select('scan_listings.targets'), 'scans.targets').as('targets'),
          listing.select('targets_total').as('targets_total'),
        ];
      })
      .where(inView(view))
  );
}

export function listedScan(row: ListedRow): ListedScan {
  const scan = withoutHistory(scanFromRow(row));
  return row.targets_total === null ? scan : { ...scan, targets_total: Number(row.targets_total) };
}

/** In the order of the ids, without those that do not exist. */
export async function scansWithIds(
  db: Kysely<Tables>,
  view: TenantView,
  ids: readonly string[],
): Promise<ListedScan[]> {
  if (ids.length === 0) return [];
  const rows = await selectListed(db, view).where('scan_id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.scan_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []).map(listedScan);
}

import { type Kysely, sql } from 'kysely';
import { isWhole, type ListedScan, listedName, listedTags, listedTargets } from '../../domain/listed-scan.ts';
import type { FailureCode, ScanStatus } from '../../domain/scan.ts';
import { completeProgress, withoutHistory } from '../../domain/scan-progress.ts';
import { isPostgres } from '../database.ts';
import { flag, type ScanTableRow, type Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';

const listedColumns = [
  'scan_id',
  'created_at',
  'status',
  'started_at',
  'completed_at',
  'profile',
  'vuln',
  'name',
  'pool',
  'priority',
  'live_hosts',
  'open_ports',
  'vulnerabilities',
  'tags',
  'progress',
  'severity_counts',
  'error',
] as const satisfies (keyof ScanTableRow)[];

export type ListedRow = Pick<ScanTableRow, (typeof listedColumns)[number] | 'targets'> & {
  targets_total: number | null;
  warnings_total: number;
};

/** @param view tenant whose scans are listed */
export function selectListed(db: Kysely<Tables>, view: TenantView) {
  return (
    db
      .selectFrom('scans')
      .select(listedColumns)
      .select((isPostgres(db) ? postgresWarnings : sqliteWarnings).as('warnings_total'))
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

/** Counted where they lie: a scan can have hundreds of warnings. */
const sqliteWarnings = sql<number>`json_array_length(warnings)`;
const postgresWarnings = sql<number>`json_array_length(warnings::json)`;

export function listedScan(row: ListedRow): ListedScan {
  const { progress } = withoutHistory({ progress: completeProgress(JSON.parse(row.progress)) });
  return {
    scan_id: row.scan_id,
    status: row.status as ScanStatus,
    name: listedName(row.name),
    ...targetsOf(row),
    created_at: row.created_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    profile: row.profile,
    vuln: flag.fromRow(row.vuln),
    ...tagsOf(row),
    pool: row.pool,
    priority: row.priority,
    results: {
      live_hosts: Number(row.live_hosts),
      open_ports: Number(row.open_ports),
      vulnerabilities: Number(row.vulnerabilities),
    },
    severity_counts: JSON.parse(row.severity_counts),
    progress,
    error: row.error === null ? null : { code: (JSON.parse(row.error) as { code: FailureCode }).code },
    warnings_total: Number(row.warnings_total),
  };
}

function targetsOf({ targets, targets_total }: ListedRow): Pick<ListedScan, 'targets' | 'targets_total'> {
  const stored: string[] = JSON.parse(targets);
  const shown = listedTargets(stored);
  if (targets_total === null && isWhole(shown, stored)) return { targets: shown };
  return { targets: shown, targets_total: Number(targets_total ?? stored.length) };
}

function tagsOf(row: ListedRow): Pick<ListedScan, 'tags' | 'tags_total'> {
  const stored: string[] = JSON.parse(row.tags);
  const tags = listedTags(stored);
  return isWhole(tags, stored) ? { tags } : { tags, tags_total: stored.length };
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

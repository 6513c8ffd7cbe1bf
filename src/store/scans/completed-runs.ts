import { type Kysely, sql } from 'kysely';
import type { SeverityCounts } from '../../domain/finding.ts';
import type { CursorPosition } from '../cursor.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { requestedPlan } from './baseline.ts';
import { isInRange } from './scan-filter.ts';

/** A completed scan, as far as its history needs it. */
export interface CompletedRun {
  scan_id: string;
  name: string | null;
  profile: string;
  /** Whether it looked for vulnerabilities. */
  vuln: number;
  /** Ports and graph of its request, as one text; null if it has a name. */
  plan: string | null;
  /** JSON of its first targets; empty if it has a name. */
  targets: string;
  created_at: string;
  completed_at: string;
  severity_counts: SeverityCounts;
}

/** Completed scans before a position, newest first. @param view tenant whose scans are read */
export async function completedRuns(
  db: Kysely<Tables>,
  view: TenantView,
  before: CursorPosition,
  limit: number,
): Promise<CompletedRun[]> {
  const rows = await db
    .selectFrom('scans')
    .select(['scan_id', 'name', 'profile', 'vuln', 'created_at', 'completed_at', 'severity_counts'])
    .select((e) => {
      const listing = e.selectFrom('scan_listings').whereRef('scan_listings.scan_id', '=', 'scans.scan_id');
      return e
        .case()
        .when('name', 'is not', null)
        .then('')
        .else(e.fn.coalesce(listing.select('scan_listings.targets'), 'scans.targets'))
        .end()
        .as('targets');
    })
    .select(sql<string | null>`case when name is null then ${requestedPlan(db)} end`.as('plan'))
    .where('status', '=', 'completed')
    .where(inView(view))
    .where(isInRange({ before, from: null }))
    .orderBy('created_at', 'desc')
    .orderBy('scan_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...row,
    targets: String(row.targets),
    completed_at: row.completed_at ?? row.created_at,
    severity_counts: JSON.parse(row.severity_counts) as SeverityCounts,
  }));
}

import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { isInRange } from './scan-filter.ts';

/** What a scan is compared with unasked. */
export interface Baseline {
  scan_id: string;
  name: string | null;
  created_at: string;
  completed_at: string | null;
}

/** Scans of one profile, and targets of one length, that are read for one of the same targets. */
const maxRead = 2000;
const readAtOnce = 50;

/** Ports and graph of the request of a scan, as one text, read where they lie: a request may have megabytes of targets. */
export function requestedPlan(db: Kysely<Tables>) {
  return isPostgres(db)
    ? sql<string>`json_build_array(request::json -> 'ports', request::json -> 'dag')::text`
    : sql<string>`json_array(json_extract(request, '$.ports'), json_extract(request, '$.dag'))`;
}

/**
 * The one rule of what a scan is compared with unasked: the last completed scan before it of the same name, else of
 * the same targets, ports, profile (or graph) and evaluation.
 * @returns null without one
 */
export async function findBaseline(
  db: Kysely<Tables>,
  view: TenantView,
  scanId: string,
): Promise<Baseline | null> {
  const own = await db
    .selectFrom('scans')
    .select(['created_at', 'name', 'profile', 'vuln', 'targets'])
    .select(requestedPlan(db).as('plan'))
    .where('scan_id', '=', scanId)
    .where(inView(view))
    .executeTakeFirst();
  if (!own) return null;
  const { created_at: createdAt, name, profile, vuln, targets } = own;
  const earlier = db
    .selectFrom('scans')
    .select(['scan_id', 'name', 'created_at', 'completed_at'])
    .where('status', '=', 'completed')
    .where(inView(view))
    .where(isInRange({ before: { createdAt, id: scanId }, from: null }))
    .orderBy('created_at', 'desc')
    .orderBy('scan_id', 'desc');
  const named = name ? await earlier.where('name', '=', name).limit(1).executeTakeFirst() : undefined;
  if (named) return named;
  const alike = earlier
    .select(['targets'])
    .select(requestedPlan(db).as('plan'))
    .where('profile', '=', profile)
    .where('vuln', '=', vuln)
    // The same targets in another order are as long.
    .where(sql<boolean>`length(targets) = ${targets.length}`)
    .limit(readAtOnce);
  const wanted = sorted(targets);
  for (let read = 0; read < maxRead; read += readAtOnce) {
    const part = await alike.offset(read).execute();
    const found = part.find((scan) => scan.plan === own.plan && sorted(scan.targets) === wanted);
    if (found) {
      const { targets: _targets, plan: _plan, ...baseline } = found;
      return baseline;
    }
    if (part.length < readAtOnce) break;
  }
  return null;
}

function sorted(targets: string): string {
  return JSON.stringify((JSON.parse(targets) as string[]).toSorted());
}

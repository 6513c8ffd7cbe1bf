import type { AlertValues } from '../../alerts/alert-values.ts';
import type { Config } from '../../config/schema.ts';
import { vulndbFolder } from '../../scan-run/catalogs/vulndb-folder.ts';
import type { Store } from '../../store/open.ts';
import { vulndbAge } from '../catalogs/show-vulndb.ts';

export interface AlertValueSource {
  /** Of all tenants. */
  store: Store;
  config: Pick<Config, 'vulndb' | 'workspace'>;
  /** Of the whole service. */
  workers: { counts(): { active: number; total: number } };
  /** On the fullest disk of the servers. */
  freeBytes: () => Promise<number>;
}

/** Ended scans count for this long, milliseconds. */
const recentMs = 15 * 60_000;
const mebibyte = 1_048_576;
const dayMs = 86_400_000;

/**
 * The values that conditions of alerts see, read once for all rules. A part that cannot be read is NaN; without its store
 * the service knows nothing.
 *
 * @param now by the clock of the queue, epoch milliseconds
 */
export async function readAlertValues(source: AlertValueSource, now: number): Promise<AlertValues> {
  const { scanQueue } = source.store;
  const since = new Date(now - recentMs).toISOString();
  const { pending, failed } = await scanQueue.counts(since);
  const ended = failed + (await scanQueue.endedSince('done', since));
  const oldest = pending === 0 ? null : await scanQueue.oldestWaiting();
  const { active, total } = source.workers.counts();
  return {
    error_rate: ended === 0 ? 0 : failed / ended,
    queue_length: pending,
    free_space_mb: (await source.freeBytes().catch(() => Number.NaN)) / mebibyte,
    worker_utilization: total === 0 ? Number.NaN : active / total,
    workers_alive: total,
    oldest_queued_seconds: oldest === null ? 0 : Math.max(0, now - Date.parse(oldest)) / 1000,
    scans_failed_15m: failed,
    vulndb_age_days: vulndbDays(source, now),
  };
}

function vulndbDays({ config }: AlertValueSource, now: number): number {
  try {
    const age = vulndbAge(vulndbFolder(config), now);
    return age === null ? Number.NaN : age / dayMs;
  } catch {
    return Number.NaN;
  }
}

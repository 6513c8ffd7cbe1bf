import { isFinal, type Scan } from '../../domain/scan.ts';
import type { FinishedRun, RunOutcome } from '../../store/client-jobs/job-runs.ts';
import type { Store } from '../../store/open.ts';

/** Runs processed between two queries. */
const batchSize = 100;

/** Finalizes job runs whose scans have ended. @returns their number */
export async function finalizeJobRuns(store: Store): Promise<number> {
  for (let settled = 0; ; ) {
    const ended = await store.jobRuns.finishedRuns(batchSize);
    for (const run of ended) await settle(store, run);
    settled += ended.length;
    if (ended.length < batchSize) return settled;
  }
}

async function settle(store: Store, run: FinishedRun): Promise<void> {
  await store.transaction(async (inside) => {
    await inside.jobRuns.finalizeRun(run, outcomeOf(await inside.scans.get(run.scan_id)));
  });
}

/**
 * Finalizes the last runs of canceled jobs that the canceling server could not: it died, or the owner of the scan was
 * down.
 */
export async function finalizeCanceledJobs(store: Store): Promise<void> {
  for (;;) {
    const ended = await store.jobRuns.finishedCanceledRuns(batchSize);
    for (const run of ended) await finalizeCanceledRuns(store, run);
    if (ended.length < batchSize) return;
  }
}

/** Finalizes runs that were detached from their jobs. */
export async function finalizeDetachedRuns(store: Store): Promise<void> {
  for (const run of await store.jobRuns.detachedRuns()) {
    const scan = await store.scans.get(run.scan_id);
    if (scan === null || isFinal(scan.status)) await store.jobRuns.finalizeDetachedRun(run, outcomeOf(scan));
  }
}

export async function finalizeCanceledRuns(store: Store, run: FinishedRun): Promise<void> {
  await store.transaction(async (inside) => {
    await inside.jobRuns.finalizeCanceledRun(run, outcomeOf(await inside.scans.get(run.scan_id)));
  });
}

/** @param scan null if it was deleted, which ends it too */
function outcomeOf(scan: Scan | null): RunOutcome {
  const now = new Date().toISOString();
  if (scan === null) {
    const error = { code: 'deleted' as const, message: 'The scan was deleted.' };
    return { status: 'failed', started_at: null, completed_at: now, error };
  }
  const { started_at, completed_at, error } = scan;
  const status = scan.status === 'completed' ? 'completed' : 'failed';
  return { status, started_at, completed_at: completed_at ?? now, error };
}

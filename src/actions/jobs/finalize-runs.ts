import { isFinal, type Scan } from '../../domain/scan.ts';
import type { FinishedRun, RunOutcome } from '../../store/client-jobs/job-runs.ts';
import type { Store } from '../../store/open.ts';

/** Runs that are dealt with between two looks at the store. */
const batchSize = 100;

/** Tells jobs how their scans ended. @returns how many runs were over */
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
 * Tells canceled jobs how their last scans ended, where the server that canceled one could not: it died, or the server
 * that had to end the scan was away.
 */
export async function finalizeCanceledJobs(store: Store): Promise<void> {
  for (;;) {
    const ended = await store.jobRuns.finishedCanceledRuns(batchSize);
    for (const run of ended) await finalizeCanceledRuns(store, run);
    if (ended.length < batchSize) return;
  }
}

/** Tells jobs how runs ended that they went on without. */
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

/** @param scan null when it was deleted, which ends it too */
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

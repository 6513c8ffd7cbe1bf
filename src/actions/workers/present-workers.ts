import { databaseTime } from '../../queue/database-clock.ts';
import type { WorkerRecord } from '../../store/hosts.ts';
import type { Store } from '../../store/open.ts';

/** Workers with a heartbeat within this time are listed, milliseconds. */
const presentMs = 60_000;
/** A worker counts as silent without a heartbeat for this long, three intervals, milliseconds. */
const silentMs = 15_000;

/** A worker of a shared database. */
export interface ListedWorker extends WorkerRecord {
  state: 'working' | 'idle' | 'silent';
  /** Since its last heartbeat, by the database clock, milliseconds. */
  silent_ms: number;
}

/** The workers that share a PostgreSQL store, by id. */
export async function presentWorkers(store: Store): Promise<ListedWorker[]> {
  const now = await databaseTime(store);
  const workers = await store.hosts.workers(now - presentMs);
  return workers.map((worker) => {
    const silent_ms = Math.max(0, now - worker.last_seen);
    return { ...worker, silent_ms, state: stateOf(worker, silent_ms) };
  });
}

function stateOf({ active }: WorkerRecord, silentFor: number): ListedWorker['state'] {
  if (silentFor > silentMs) return 'silent';
  return active > 0 ? 'working' : 'idle';
}

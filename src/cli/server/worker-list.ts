import { PortolanError } from '../../domain/errors.ts';
import { databaseTime } from '../../queue/database-clock.ts';
import type { WorkerRecord } from '../../store/hosts.ts';
import { openStore } from '../../store/open.ts';
import { isPostgresUrl } from '../../store/postgres/postgres-url.ts';
import { readConfigQuietly } from '../session/session.ts';
import { renderColumns } from '../terminal/columns.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printableJson } from '../terminal/printable.ts';

/** Workers with a heartbeat within this time are listed, milliseconds. */
const presentMs = 60_000;
/** A worker is shown as lost without a heartbeat for this long, three intervals, milliseconds. */
const silentMs = 15_000;

/** @throws PortolanError `configuration` without a PostgreSQL queue, `unavailable` */
export async function listWorkers(
  flags: { queue?: string; format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfigQuietly(global, { 'queue.url': flags.queue });
  const { url } = config.queue;
  if (url === null || !isPostgresUrl(url)) {
    const message = 'workers on other machines need a PostgreSQL queue: set queue.url or --queue';
    throw new PortolanError('configuration', message);
  }
  const store = await openStore(url);
  try {
    const now = await databaseTime(store);
    const workers = await store.hosts.workers(now - presentMs);
    if (flags.format === 'json') print(printableJson(workers.map((worker) => shown(worker, now))));
    else if (workers.length === 0) note('no workers');
    else print(table(workers, now));
    return 0;
  } finally {
    await store.close();
  }
}

function shown(worker: WorkerRecord, now: number) {
  return { ...worker, state: stateOf(worker, now), last_seen: new Date(worker.last_seen).toISOString() };
}

function table(workers: readonly WorkerRecord[], now: number): string {
  const rows = workers.map((worker) => [
    worker.worker_id,
    worker.pools.join(','),
    stateOf(worker, now),
    `${worker.active}/${worker.capacity}`,
    worker.tags.join(',') || '-',
    worker.version,
    `${Math.max(0, Math.round((now - worker.last_seen) / 1000))} s ago`,
  ]);
  return renderColumns(['WORKER', 'POOLS', 'STATE', 'SHARDS', 'TAGS', 'VERSION', 'SEEN'], rows);
}

function stateOf({ last_seen, active }: WorkerRecord, now: number): 'working' | 'idle' | 'silent' {
  if (now - last_seen > silentMs) return 'silent';
  return active > 0 ? 'working' : 'idle';
}

import { type ListedWorker, presentWorkers } from '../../actions/workers/present-workers.ts';
import { PortolanError } from '../../domain/errors.ts';
import { openStore } from '../../store/open.ts';
import { isPostgresUrl } from '../../store/postgres/postgres-url.ts';
import { readConfigQuietly } from '../session/session.ts';
import { renderColumns } from '../terminal/columns.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printableJson } from '../terminal/printable.ts';

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
    const workers = await presentWorkers(store);
    if (flags.format === 'json') print(printableJson(workers.map(shown)));
    else if (workers.length === 0) note('no workers');
    else print(table(workers));
    return 0;
  } finally {
    await store.close();
  }
}

function shown({ silent_ms: _silent, ...worker }: ListedWorker) {
  return { ...worker, last_seen: new Date(worker.last_seen).toISOString() };
}

function table(workers: readonly ListedWorker[]): string {
  const rows = workers.map((worker) => [
    worker.worker_id,
    worker.pools.join(','),
    worker.state,
    `${worker.active}/${worker.capacity}`,
    worker.tags.join(',') || '-',
    worker.version,
    `${Math.round(worker.silent_ms / 1000)} s ago`,
  ]);
  return renderColumns(['WORKER', 'POOLS', 'STATE', 'SHARDS', 'TAGS', 'VERSION', 'SEEN'], rows);
}

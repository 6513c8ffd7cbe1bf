import { type ListedWorker, presentWorkers } from '../../actions/workers/present-workers.ts';
import { PortolanError } from '../../domain/errors.ts';
import { openStore } from '../../store/open.ts';
import { isPostgresUrl } from '../../store/postgres/postgres-url.ts';
import { readConfigQuietly } from '../session/session.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printableJson } from '../terminal/draw/printable.ts';
import { whenText } from '../terminal/draw/times.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

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
    else printWorkers(workers, global);
    return 0;
  } finally {
    await store.close();
  }
}

function shown({ silent_ms: _silent, ...worker }: ListedWorker) {
  return { ...worker, last_seen: new Date(worker.last_seen).toISOString() };
}

function printWorkers(workers: readonly ListedWorker[], flags: { color: boolean }): void {
  const now = Date.now();
  printTable<ListedWorker>(
    [
      { head: 'WORKER', cell: ({ worker_id }) => worker_id },
      {
        head: 'STATE',
        cell: ({ state }) => state,
        paint: ({ state }) => (state === 'silent' ? 'yellow' : null),
      },
      { head: 'SHARDS', cell: ({ active, capacity }) => `${active}/${capacity}`, right: true },
      { head: 'SEEN', cell: ({ silent_ms }) => whenText(now - silent_ms, now) },
      { head: 'VERSION', cell: ({ version }) => version },
      { head: 'POOLS', cell: ({ pools }) => pools.join(','), over: 'end' },
      { head: 'TAGS', cell: ({ tags }) => tags.join(',') || null, over: 'end' },
    ],
    workers,
    flags,
    [
      ['TAGS', 8],
      ['POOLS', 8],
      ['VERSION', 0],
    ],
  );
}

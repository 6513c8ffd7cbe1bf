import { PortolanError } from '../domain/errors.ts';
import { openStore } from '../store/open.ts';
import { isPostgresUrl } from '../store/postgres-dialect.ts';
import { renderColumns } from './columns.ts';
import type { GlobalFlags } from './globals.ts';
import { print } from './output.ts';
import { jsonText } from './printable.ts';
import { readConfigQuietly } from './session.ts';

/** Workers that gave a sign of life since are shown, milliseconds. */
const presentMs = 60_000;

/** @throws PortolanError `configuration` without a PostgreSQL queue, `unavailable` */
export async function listWorkers(
  flags: { queue?: string; format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfigQuietly(global, { 'queue.url': flags.queue });
  const { url } = config.queue;
  if (url === null || !isPostgresUrl(url)) {
    const message = 'workers of other machines need a PostgreSQL queue: set queue.url or --queue';
    throw new PortolanError('configuration', message);
  }
  const store = await openStore(url);
  try {
    const workers = await store.hosts.workers(Date.now() - presentMs);
    const shown = workers.map(({ last_seen, ...worker }) => ({
      ...worker,
      last_seen: new Date(last_seen).toISOString(),
    }));
    print(flags.format === 'json' ? jsonText(shown) : table(shown));
    return 0;
  } finally {
    await store.close();
  }
}

type ShownWorker = {
  worker_id: string;
  host: string;
  pools: string[];
  tags: string[];
  version: string;
  capacity: number;
  active: number;
  last_seen: string;
};

function table(workers: readonly ShownWorker[]): string {
  const rows = workers.map(({ worker_id, pools, tags, version, capacity, active, last_seen }) => [
    worker_id,
    pools.join(','),
    `${active}/${capacity}`,
    tags.join(','),
    version,
    last_seen,
  ]);
  return renderColumns(['worker', 'pools', 'active', 'tags', 'version', 'last seen'], rows);
}

import { allTags, type PoolTags } from '../domain/pool-tags.ts';
import type { ServerTableRow, WorkerTableRow } from './schema/tables.ts';
import { StoreTable } from './store-table.ts';

/** A worker with its JSON columns parsed. */
export interface WorkerRecord extends Omit<WorkerTableRow, 'pools' | 'tags'> {
  pools: string[];
  tags: string[];
}

/** A server's own heartbeat. */
type SeenServer = Omit<ServerTableRow, 'free_bytes' | 'pool_tags' | 'settings'> &
  Partial<Pick<ServerTableRow, 'free_bytes' | 'pool_tags' | 'settings'>>;

/** Servers and workers that share the store, each with its last heartbeat. */
export class HostTable extends StoreTable {
  async saveServer(server: SeenServer): Promise<void> {
    const row = { free_bytes: null, pool_tags: null, settings: null, ...server };
    const { server_id: _id, ...rest } = row;
    await this.db
      .insertInto('servers')
      .values(row)
      .onConflict((conflict) => conflict.column('server_id').doUpdateSet(rest))
      .execute();
  }

  async server(serverId: string): Promise<ServerTableRow | null> {
    const row = await this.db
      .selectFrom('servers')
      .selectAll()
      .where('server_id', '=', serverId)
      .executeTakeFirst();
    return row ? serverOf(row) : null;
  }

  /** Servers seen since a time. @param since epoch milliseconds, inclusive */
  async servers(since: number): Promise<ServerTableRow[]> {
    const rows = await this.db
      .selectFrom('servers')
      .selectAll()
      .where('last_seen', '>=', since)
      .orderBy('server_id')
      .execute();
    return rows.map(serverOf);
  }

  /** Tags that the pools of these servers ask for. @param since epoch milliseconds, inclusive */
  async poolTags(since: number): Promise<PoolTags> {
    const servers = await this.servers(since);
    return allTags(servers.map(({ pool_tags }) => JSON.parse(pool_tags ?? '{}') as PoolTags));
  }

  async saveWorker(worker: WorkerRecord): Promise<void> {
    const row = { ...worker, pools: JSON.stringify(worker.pools), tags: JSON.stringify(worker.tags) };
    const { worker_id: _id, ...rest } = row;
    await this.db
      .insertInto('workers')
      .values(row)
      .onConflict((conflict) => conflict.column('worker_id').doUpdateSet(rest))
      .execute();
  }

  /** Workers seen since a time. @param since epoch milliseconds, inclusive */
  async workers(since: number): Promise<WorkerRecord[]> {
    const rows = await this.db
      .selectFrom('workers')
      .selectAll()
      .where('last_seen', '>=', since)
      .orderBy('worker_id')
      .execute();
    return rows.map((row) => ({
      ...row,
      last_seen: Number(row.last_seen),
      pools: JSON.parse(row.pools) as string[],
      tags: JSON.parse(row.tags) as string[],
    }));
  }

  async deleteWorker(workerId: string): Promise<void> {
    await this.db.deleteFrom('workers').where('worker_id', '=', workerId).execute();
  }

  /** Deletes servers and workers without a heartbeat since a time, epoch milliseconds. */
  async deleteSilentBefore(time: number): Promise<void> {
    await this.db.deleteFrom('workers').where('last_seen', '<', time).execute();
    await this.db.deleteFrom('servers').where('last_seen', '<', time).execute();
  }
}

/** The PostgreSQL client returns bigint as text. */
function serverOf(row: ServerTableRow): ServerTableRow {
  const { last_seen, free_bytes } = row;
  return {
    ...row,
    last_seen: Number(last_seen),
    free_bytes: free_bytes === null ? null : Number(free_bytes),
  };
}

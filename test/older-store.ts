import pg from 'pg';

/** Statements that leave a shared store as an earlier version left it: the last migration is undone. */
export const undoLastMigration = [
  'alter table portolan.divisions drop column begun',
  `delete from portolan.kysely_migration where name = '0013-begun-divisions'`,
];

/** A statement: a server of some version sent its last heartbeat so many seconds ago. */
export function heartbeatOf(serverId: string, version: string, secondsAgo: number): string {
  return `insert into portolan.servers (server_id, url, version, last_seen) values ('${serverId}',
    'http://h-${serverId}:8080', '${version}', extract(epoch from clock_timestamp()) * 1000 - ${secondsAgo * 1000})`;
}

/** Whether a database has what the last migration adds. Opens it without the program, which would migrate it. */
export async function hasLastMigration(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select 1 from information_schema.columns where table_name = 'divisions' and column_name = 'begun'`,
  );
  await client.end();
  return rows.length === 1;
}

import { readFileSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { PortolanError } from '../../domain/errors.ts';
import { majorOf } from '../../domain/version.ts';
import { storeVersion } from '../schema/migrations.ts';

/** A server is alive if its last heartbeat is younger than this, milliseconds. */
const heartbeatMs = 60_000;

/** Who opens a store that servers share. */
export interface StoreUser {
  /** Id of the server that starts, whose own last heartbeat is one of an earlier process; null for other programs. */
  startingServer: string | null;
  /** Version of the program. */
  version: string;
}

/**
 * Servers of another major version work with tables as they know them: a store is not migrated under them, and no server
 * of this version starts beside them.
 *
 * @param db a PostgreSQL database
 * @throws PortolanError `configuration` that names them
 */
export async function requireSameMajorServers<T>(
  db: Kysely<T>,
  { startingServer, version }: StoreUser,
): Promise<void> {
  if (!(await hasServers(db))) return;
  const { rows } = await sql<{ server_id: string; url: string; version: string }>`
    select server_id, url, version from servers
    where last_seen >= extract(epoch from clock_timestamp()) * 1000 - ${sql.lit(heartbeatMs)}
    order by server_id`.execute(db);
  const others = rows.filter(
    (one) => one.server_id !== startingServer && majorOf(one.version) !== majorOf(version),
  );
  if (others.length === 0) return;
  if (startingServer === null && (await storeVersion(db)).pending.length === 0) return;
  const names = others.map((one) => `portolan ${one.version} at ${one.url}`).join(', ');
  throw new PortolanError(
    'configuration',
    `servers of another major version use the database: ${names}; this is portolan ${version}. ` +
      'Stop them first: a server counts until a minute after its last heartbeat',
  );
}

/** A database that was never used, or by the first versions only, has no such table. */
async function hasServers<T>(db: Kysely<T>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('servers') is not null as there`.execute(db);
  return rows[0]?.there === true;
}

/** This program's: the file lies above src/ and dist/ alike. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

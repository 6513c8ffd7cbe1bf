import { readFileSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { PortolanError } from '../../domain/errors.ts';
import { majorOf } from '../../domain/version.ts';
import { incompatibleMigrations } from '../schema/migration-names.ts';
import { storeVersion } from '../schema/migrations.ts';

/** A server or worker is alive if its last heartbeat is younger than this, milliseconds. */
const heartbeatMs = 60_000;

/** The program that opens a shared store. */
export interface StoreUser {
  /** Id of the starting server, whose last heartbeat is one of its previous process; null for other programs. */
  startingServer: string | null;
  /** Program version. */
  version: string;
}

/**
 * Rejects a program that would migrate the store under live programs that do not know the new tables: servers of
 * another major version, and before an incompatible migration every server and worker of any version. No server
 * starts beside one of another major version.
 *
 * @param db a PostgreSQL database
 * @throws PortolanError `configuration` that names them
 */
export async function requireCompatiblePrograms<T>(db: Kysely<T>, user: StoreUser): Promise<void> {
  if (!(await hasServers(db))) return;
  const { pending } = await storeVersion(db);
  await requireSameMajorServers(db, user, pending.length > 0);
  if (pending.some((name) => incompatibleMigrations.includes(name))) await requireNoPrograms(db, user);
}

async function requireSameMajorServers<T>(
  db: Kysely<T>,
  { startingServer, version }: StoreUser,
  migrates: boolean,
): Promise<void> {
  if (startingServer === null && !migrates) return;
  const others = (await liveServers(db, startingServer)).filter(
    (one) => majorOf(one.version) !== majorOf(version),
  );
  if (others.length === 0) return;
  throw stillUsed('servers of another major version use the database', others.map(nameOfServer), version);
}

async function requireNoPrograms<T>(db: Kysely<T>, { startingServer, version }: StoreUser): Promise<void> {
  const servers = await liveServers(db, startingServer);
  const workers = await liveWorkers(db, startingServer);
  if (servers.length + workers.length === 0) return;
  const names = [...servers.map(nameOfServer), ...workers.map(nameOfWorker)];
  throw stillUsed('programs that need the older tables use the database', names, version);
}

function stillUsed(what: string, names: readonly string[], version: string): PortolanError {
  return new PortolanError(
    'configuration',
    `${what}: ${names.join(', ')}; this is portolan ${version}. ` +
      'Stop them first: each counts until a minute after its last heartbeat',
  );
}

interface LiveServer {
  server_id: string;
  url: string;
  version: string;
}

interface LiveWorker {
  worker_id: string;
  version: string;
}

function nameOfServer({ url, version }: LiveServer): string {
  return `portolan ${version} at ${url}`;
}

function nameOfWorker({ worker_id, version }: LiveWorker): string {
  return `worker ${worker_id} of portolan ${version}`;
}

/** @param except id of a server to leave out */
async function liveServers<T>(db: Kysely<T>, except: string | null): Promise<LiveServer[]> {
  const { rows } = await sql<LiveServer>`
    select server_id, url, version from servers where ${isAlive} order by server_id`.execute(db);
  return rows.filter((one) => one.server_id !== except);
}

/** @param exceptOf id of a server whose workers to leave out: they end with it */
async function liveWorkers<T>(db: Kysely<T>, exceptOf: string | null): Promise<LiveWorker[]> {
  const { rows } = await sql<LiveWorker>`
    select worker_id, version from workers where ${isAlive} order by worker_id`.execute(db);
  return rows.filter((one) => exceptOf === null || !one.worker_id.startsWith(`${exceptOf}:`));
}

const isAlive = sql<boolean>`last_seen >= extract(epoch from clock_timestamp()) * 1000 - ${sql.lit(heartbeatMs)}`;

/** An unused database, or one of the first versions, lacks these tables. */
async function hasServers<T>(db: Kysely<T>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('servers') is not null as there`.execute(db);
  return rows[0]?.there === true;
}

/** Version of this program: package.json lies above both src/ and dist/. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

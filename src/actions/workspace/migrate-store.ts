import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { PortolanError } from '../../domain/errors.ts';
import { commandLineExecutor, commandLineOf, serverExecutor, serverOf } from '../../domain/executor.ts';
import { openStore, type Store } from '../../store/open.ts';
import { isPostgresUrl, shownUrl } from '../../store/postgres/postgres-url.ts';
import {
  type ContentTable,
  contentTables,
  type TableRow,
  type TableRows,
} from '../../store/schema/table-rows.ts';
import { serverId } from '../../workspace/server-id.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface StoreMove {
  workspace: Workspace;
  /** Path of a SQLite file, or `postgres://…`; the target is of the other kind. */
  source: string;
  target: string;
  onProgress?: (progress: MoveProgress) => void;
}

export interface MoveProgress {
  table: ContentTable;
  step: 'copy' | 'verify';
  /** Progress, of `total`. */
  rows: number;
  total: number;
}

export interface MoveReport {
  /** Without passwords. */
  from: string;
  to: string;
  tables: MovedTable[];
  /** Scans of the last `queue.retention` with results in the workspaces of other servers. */
  elsewhere: number;
}

interface MovedTable {
  table: ContentTable;
  rows: number;
  /** SHA-256 over all rows in the order of their key, hex; of both source and target. */
  sha256: string;
}

/** A server or worker seen less than this ago counts as running, milliseconds. */
const presentMs = 30_000;

/**
 * Copies a store, all or nothing, and verifies every row of the copy. The source stays unchanged, apart from the
 * upgrade to this version.
 * @throws PortolanError `configuration` while a server uses one of them, or if one is unusable; `conflict` if the
 * target is not empty, or for unfinished work that the target could not continue
 */
export async function migrateStore(move: StoreMove): Promise<MoveReport> {
  const { source, target, workspace } = move;
  if (isPostgresUrl(source) === isPostgresUrl(target)) {
    const message =
      'A store moves from a SQLite file to PostgreSQL or back. To copy within one kind, use the tools of that database.';
    throw new PortolanError('usage', message);
  }
  if (!isPostgresUrl(source) && !existsSync(source))
    throw new PortolanError('configuration', `There is no store ${source}.`);
  const lock = await workspace.lock({ url: '' });
  try {
    return await withStores(move, (stores) => moveRows(move, stores));
  } finally {
    await lock.release();
  }
}

interface Stores {
  source: Store;
  target: Store;
}

/** A file that did not exist before remains only if `work` succeeds. */
async function withStores<T>(
  { source, target }: StoreMove,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const isNew = !isPostgresUrl(target) && !existsSync(target);
  const from = await openStore(source);
  try {
    const to = await openStore(target);
    try {
      return await work({ source: from, target: to });
    } finally {
      await to.close();
    }
  } catch (error) {
    if (isNew) for (const end of ['', '-wal', '-shm']) await rm(`${target}${end}`, { force: true });
    throw error;
  } finally {
    await from.close();
  }
}

async function moveRows(move: StoreMove, { source, target }: Stores): Promise<MoveReport> {
  const { workspace, onProgress } = move;
  const isToPostgres = isPostgresUrl(move.target);
  await demandNobody(isToPostgres ? target : source);
  const home = await serverId(workspace.dir);
  const places = new JobPlaces(workspace, home, isToPostgres);
  const tables = await source.transaction(
    (from) =>
      target.transaction(async (to) => {
        await Promise.all([from.rows.hold(), to.rows.hold()]);
        await demandEmpty(to, move.target);
        const moved: MovedTable[] = [];
        for (const table of contentTables)
          moved.push(await moveTable(table, from.rows, to.rows, places, onProgress));
        await to.scanQueue.continuePositions();
        return moved;
      }, 'read committed'),
    'read committed',
  );
  await target.emptyLog();
  return {
    from: shownUrl(move.source),
    to: shownUrl(move.target),
    tables,
    elsewhere: places.ofOtherServers,
  };
}

/** Servers and workers of a database lock nothing on this machine; their heartbeats show them. */
async function demandNobody({ hosts }: Store): Promise<void> {
  const since = Date.now() - presentMs;
  const names = [
    ...(await hosts.servers(since)).map(({ url }) => `the server at ${url}`),
    ...(await hosts.workers(since)).map(({ host }) => `a worker on ${host}`),
  ];
  if (names.length === 0) return;
  const message = `The database is in use by ${names.slice(0, 3).join(', ')}. Stop the servers and workers, wait ${presentMs / 1000} s, and try again.`;
  throw new PortolanError('configuration', message);
}

async function demandEmpty({ rows }: Store, place: string): Promise<void> {
  for (const table of contentTables) {
    const found = await rows.count(table);
    if (found === 0) continue;
    const message = `The store ${shownUrl(place)} has ${found} rows in ${table}; the target must be empty.`;
    throw new PortolanError('conflict', message);
  }
}

async function moveTable(
  table: ContentTable,
  from: TableRows,
  to: TableRows,
  places: JobPlaces,
  onProgress: StoreMove['onProgress'],
): Promise<MovedTable> {
  const total = await from.count(table);
  const sent = new Fingerprint();
  for await (const page of from.pages(table)) {
    const rows = page.map((row) => places.moved(table, row));
    await to.insert(table, rows);
    sent.add(rows);
    onProgress?.({ table, step: 'copy', rows: sent.rows, total });
  }
  const kept = new Fingerprint();
  for await (const page of to.pages(table)) {
    kept.add(page);
    onProgress?.({ table, step: 'verify', rows: kept.rows, total });
  }
  const [expected, found] = [sent.end(), kept.end()];
  if (sent.rows !== kept.rows || expected !== found) {
    const message = `The rows of ${table} differ after the copy (${sent.rows} sent, ${kept.rows} stored); nothing was written.`;
    throw new PortolanError('internal_error', message);
  }
  return { table, rows: kept.rows, sha256: found };
}

/** Number and digest of rows in the order of their key. */
class Fingerprint {
  readonly #hash: Hash = createHash('sha256');
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  add(rows: readonly TableRow[]): void {
    for (const row of rows) {
      const columns = Object.keys(row).toSorted();
      this.#hash.update(`${JSON.stringify(columns.map((column) => [column, row[column]]))}\n`);
    }
    this.#rows += rows.length;
  }

  end(): string {
    return this.#hash.digest('hex');
  }
}

/** Owner of jobs: the server of this workspace if there may be several, nobody if there is one. */
class JobPlaces {
  readonly #workspace: Workspace;
  readonly #home: string;
  readonly #isToPostgres: boolean;
  ofOtherServers = 0;

  constructor(workspace: Workspace, home: string, isToPostgres: boolean) {
    this.#workspace = workspace;
    this.#home = home;
    this.#isToPostgres = isToPostgres;
  }

  /** The row for the target. @throws PortolanError `conflict` for work it could not continue */
  moved(table: ContentTable, row: TableRow): TableRow {
    if (table === 'shards') demandOver(row);
    if (table === 'shard_plans') demandGathered(row);
    if (table === 'scans') return this.#movedScan(row);
    if (table === 'outbox') return { ...row, owner: this.#executor(row['owner']) };
    if (table !== 'scan_queue') return row;
    if (this.#isToPostgres) return { ...row, owner_server: this.#home };
    if (row['owner_server'] !== null && row['owner_server'] !== this.#home) {
      demandEnded(row);
      this.ofOtherServers += 1;
    }
    return { ...row, owner_server: null };
  }

  /** Its copy in the database is left behind: where it is in this workspace, its server stores it again. */
  #movedScan(row: TableRow): TableRow {
    const space = this.#workspace.forTenant(row['tenant'] === null ? null : String(row['tenant']));
    const isHere = existsSync(space.scan(String(row['scan_id'])).path);
    const stored_at = isHere ? null : (row['stored_at'] ?? null);
    return { ...row, stored_at, executor: this.#executor(row['executor']) };
  }

  /** A scan of a command line stays one, in the same workspace. */
  #executor(of: TableRow[string] | undefined): TableRow[string] {
    if (typeof of !== 'string' || ![null, this.#home].includes(serverOf(of))) return of ?? null;
    const home = this.#isToPostgres ? this.#home : null;
    const pid = commandLineOf(of);
    return pid === null ? serverExecutor(home) : commandLineExecutor(pid, home);
  }
}

function demandOver({ state, scan_id }: TableRow): void {
  if (state !== 'waiting' && state !== 'running') return;
  const message = `The scan ${scan_id} is divided among workers. Wait until it ends, or cancel it, before moving the store.`;
  throw new PortolanError('conflict', message);
}

/** What its workers have found is not moved. */
function demandGathered({ blocks, scan_id }: TableRow): void {
  if (blocks !== null && Number(blocks) > 0) demandOver({ state: 'running', scan_id: scan_id ?? null });
}

function demandEnded({ state, scan_id }: TableRow): void {
  if (state !== 'waiting' && state !== 'running') return;
  const message = `The scan ${scan_id} is waiting or running in the workspace of another server. Wait until it ends, or cancel it, before moving the store.`;
  throw new PortolanError('conflict', message);
}

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle } from '../../../test/postgres.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { ScanQueue } from '../../queue/scan-queue.ts';
import { openStore, type Store } from '../../store/open.ts';
import { contentTables, type TableRow } from '../../store/schema/table-rows.ts';
import { serverId } from '../../workspace/server-id.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { type MoveProgress, migrateStore } from './migrate-store.ts';

const obstacle = postgresObstacle();
const idOf = (number: number) => `20261006-143022-${String(number).padStart(6, '0')}`;
const at = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
const strange = 'Zürich 北京 😀 \u202e \u0001 "quotes" \'single\' back\\slash %_ \r\n\t\ufeff é e\u0301';

/** Every table, with the rows that are hardest to keep. */
async function fill(store: Store): Promise<void> {
  const now = Date.now();
  for (const [number, tenant] of [null, 'acme', 'globex', null].entries()) {
    const own = store.forTenant(tenant);
    await own.scans.insert(
      scanRequest({
        scan_id: idOf(number),
        created_at: at(number),
        targets:
          number === 1 ? Array.from({ length: 20_000 }, (_, n) => `host-${n}.é.example`) : ['192.0.2.1'],
        name: number === 2 ? null : strange,
        tags: ['a', strange.slice(0, 20), 'Ä', 'z', '😀'],
        notifications: ['slack://x', 'email://y@example.com'],
        dag: strange,
      }),
      number === 3 ? 'cli:42' : 'server',
    );
    await own.scans.setSize(idOf(number), Number.MAX_SAFE_INTEGER - number);
    await own.scanQueue.insert({ scanId: idOf(number), pool: number === 1 ? 'dmz' : 'default' }, now);
    const key = { owner: 'abc123', key: `${strange}${number}`, digest: 'd', scan_id: idOf(number) };
    await own.idempotency.insert({ ...key, created_at: new Date(now).toISOString() }, now);
    await own.clientJobs.insert({
      job_id: `job-0000000${number}`,
      type: 'scan',
      schedule: number === 2 ? null : '0 2 * * *',
      zone: 'Europe/Berlin',
      pool: 'default',
      priority: 5,
      name: strange,
      next_run_at: at(number),
      created_at: at(number),
      created_by: null,
      params: { targets: ['192.0.2.1'], name: strange, long: 'x'.repeat(100_000) },
    });
  }
  await store.alertStates.save([
    {
      name: 'backlog',
      condition_digest: 'aa',
      state: 'firing',
      since: at(1),
      pending_ms: 0,
      quiet_ms: 1234,
      error: strange,
    },
  ]);
  await store.jobRuns.startRun('job-00000000', { fireAt: at(0), scanId: idOf(0), now: at(1), next: at(9) });
  await store.tokens.insert({
    id: 't1',
    name: strange,
    digest: 'aa',
    previous_digest: null,
    previous_until: null,
    scopes: ['scan:read'],
    tenant: 'acme',
    created_at: at(1),
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  });
  await store.scanQueue.claim('w', now, now + 60_000, { pools: ['dmz'] });
  await store.scanPauses.pause(idOf(2), now);
  await store.scans.update(idOf(3), { status: 'running' });
  await store.scans.update(idOf(3), { status: 'failed', error: { code: 'canceled', message: strange } });
  await store.scanQueue.cancel(idOf(3), now);
}

async function rowsOf(store: Store): Promise<Record<string, TableRow[]>> {
  const found: Record<string, TableRow[]> = {};
  for (const table of contentTables) {
    found[table] = [];
    for await (const page of store.rows.pages(table)) found[table]?.push(...page);
  }
  return found;
}

function withoutHomes(rows: Record<string, TableRow[]>): Record<string, TableRow[]> {
  const plain = (name: unknown) => String(name).replace(/^(server|cli:\d+):.*/, '$1');
  const changed = (table: string, change: (row: TableRow) => TableRow) => ({
    [table]: (rows[table] ?? []).map(change),
  });
  return {
    ...rows,
    ...changed('scan_queue', (row) => ({ ...row, owner_server: null })),
    ...changed('scans', (row) => ({ ...row, executor: plain(row['executor']) })),
    ...changed('outbox', (row) => ({ ...row, owner: plain(row['owner']) })),
  };
}

async function readAll(place: string): Promise<Record<string, TableRow[]>> {
  const store = await openStore(place);
  try {
    return await rowsOf(store);
  } finally {
    await store.close();
  }
}

describe.skipIf(obstacle !== null)('a store', () => {
  let dir: string;
  let workspace: Workspace;
  let url: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-move-'));
    workspace = await openWorkspace(join(dir, 'ws'));
    url = await emptyDatabase();
    const store = await openStore(workspace.storeFile);
    await fill(store);
    await store.close();
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const toPostgres = (onProgress?: (progress: MoveProgress) => void) =>
    migrateStore({
      workspace,
      source: workspace.storeFile,
      target: url,
      ...(onProgress && { onProgress }),
    });
  const toFile = (file = join(dir, 'back.db')) => migrateStore({ workspace, source: url, target: file });

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  it('moves to PostgreSQL and back, every row the same', async () => {
    const before = await readAll(workspace.storeFile);
    for (const table of contentTables.filter((name) => name !== 'shards' && name !== 'shard_plans'))
      expect(before[table]?.length, table).toBeGreaterThan(0);
    const seen: MoveProgress[] = [];
    const there = await toPostgres((progress) => seen.push(progress));
    expect(there.to).toBe(url);
    expect(there.tables.map(({ table, rows }) => [table, rows])).toEqual(
      contentTables.map((table) => [table, before[table]?.length]),
    );
    expect(seen).toContainEqual({ table: 'scans', step: 'verify', rows: 4, total: 4 });
    const kept = await readAll(url);
    expect(withoutHomes(kept)).toEqual(before);
    const home = await serverId(workspace.dir);
    expect(kept['scan_queue']?.map((row) => row['owner_server'])).toEqual(Array(4).fill(home));
    expect(await readAll(workspace.storeFile)).toEqual(before);

    const back = await toFile();
    expect(await readAll(join(dir, 'back.db'))).toEqual(before);
    expect(back.elsewhere).toBe(0);
    // The digests of both ways are those of the same rows, except where they name the home.
    const named = new Set<string>(['scan_queue', 'scans', 'outbox']);
    for (const [index, { table, sha256 }] of back.tables.entries())
      if (!named.has(table)) expect(sha256).toBe(there.tables[index]?.sha256);
  });

  it('has a queue that goes on where it was', async () => {
    await toPostgres();
    const store = await openStore(url);
    const queue = new ScanQueue(store, { leaseMs: 1000, home: await serverId(workspace.dir) });
    try {
      expect(await queue.reclaimAll()).toBe(1);
      expect(await queue.claim('w')).toMatchObject({ scanId: idOf(0), attempt: 1 });
      expect(await queue.claim('w')).toMatchObject({ scanId: idOf(1), attempt: 2, tenant: 'acme' });
      expect(await queue.claim('w')).toBeNull();
    } finally {
      await store.close();
    }
  });

  it('is not moved while a server has it', async () => {
    const lock = await workspace.lock({ url: '' });
    await expect(toPostgres()).rejects.toMatchObject({ code: 'configuration' });
    await lock.release();
    const store = await openStore(url);
    const sign = { server_id: 's', url: 'http://192.0.2.9', version: '1', last_seen: Date.now() };
    await store.hosts.saveServer(sign);
    await expect(toPostgres()).rejects.toThrow('in use by the server at http://192.0.2.9');
    await expect(toFile()).rejects.toMatchObject({ code: 'configuration' });
    await store.hosts.saveServer({ ...sign, last_seen: Date.now() - 31_000 });
    await toPostgres();
    await store.close();
  });

  it('is not written over another one, in either direction', async () => {
    await toPostgres();
    const kept = await readAll(url);
    await expect(toPostgres()).rejects.toMatchObject({ code: 'conflict' });
    await expect(toFile(workspace.storeFile)).rejects.toMatchObject({ code: 'conflict' });
    expect(await readAll(url)).toEqual(kept);
    expect(existsSync(workspace.storeFile)).toBe(true);
  });

  it('leaves nothing of a move that fails', async () => {
    const raw = new DatabaseSync(workspace.storeFile);
    raw.exec("update job_runs set status = 'a' || char(0) || 'b'");
    await expect(toPostgres()).rejects.toThrow(/job-00000000 .*of job_runs cannot be moved: .*NUL/);
    const nothing = Object.fromEntries(contentTables.map((table) => [table, []]));
    expect(await readAll(url)).toEqual(nothing);
    raw.exec("update job_runs set status = 'failed'; update scan_queue set attempt = 3000000000");
    await expect(toPostgres()).rejects.toThrow(/of scan_queue cannot be moved: .*out of range/);
    raw.exec('update scan_queue set attempt = 1; update scans set size_bytes = 9223372036854775807');
    await expect(toPostgres()).rejects.toMatchObject({ code: 'configuration' });
    raw.exec('update scans set size_bytes = 1');
    raw.close();
    await toPostgres();

    await query("update portolan.scans set size_bytes = 9223372036854775807 where scan_id > ''");
    await expect(toFile()).rejects.toMatchObject({ code: 'configuration' });
    await query('update portolan.scans set size_bytes = 1');
    await query(`update portolan.scan_queue set owner_server = 'other' where scan_id = '${idOf(0)}'`);
    await expect(toFile()).rejects.toThrow('workspace of another server');
    for (const end of ['', '-wal', '-shm']) expect(existsSync(join(dir, `back.db${end}`))).toBe(false);
    await query("update portolan.scan_queue set state = 'done' where owner_server = 'other'");
    expect((await toFile()).elsewhere).toBe(1);
  });

  it('is compared with what was read, row by row', async () => {
    await (await openStore(url)).close();
    // What comes back is not what was sent, though nothing fails.
    await query(`create function portolan.spoil() returns trigger language plpgsql as
      $$ begin new.tag := new.tag || ' '; return new; end $$`);
    await query(
      'create trigger spoil before insert on portolan.scan_tags for each row execute function portolan.spoil()',
    );
    await expect(toPostgres()).rejects.toThrow(/scan_tags differ after the copy \(20 sent, 20 stored\)/);
    const nothing = Object.fromEntries(contentTables.map((table) => [table, []]));
    expect(await readAll(url)).toEqual(nothing);
  });

  it('is not moved while a scan is divided among workers', async () => {
    await toPostgres();
    const store = await openStore(url);
    const plan = { addresses: ['192.0.2.1'], hostnames: {} };
    await store.shardJobs.insert(idOf(0), 'default', plan, { line: 'shards', ids: ['job'] });
    await expect(toFile()).rejects.toThrow('divided among workers');
    await store.shards.endWaiting(idOf(0), Date.now());
    const report = await toFile();
    expect(report.tables).toContainEqual(expect.objectContaining({ table: 'shards', rows: 1 }));
    await store.close();
  });

  it('that is not there, or of the same kind, is refused', async () => {
    const none = join(dir, 'none.db');
    await expect(migrateStore({ workspace, source: none, target: url })).rejects.toMatchObject({
      code: 'configuration',
    });
    expect(existsSync(none)).toBe(false);
    await expect(migrateStore({ workspace, source: url, target: url })).rejects.toMatchObject({
      code: 'usage',
    });
    const closed = url.replace(/:\d+\//, ':1/');
    await expect(
      migrateStore({ workspace, source: workspace.storeFile, target: closed }),
    ).rejects.toMatchObject({ code: 'unavailable' });
    expect(await workspace.lockHolder()).toBeNull();
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOlderFile, insertIntoFile } from '../../test/older-store.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { listedScans, numberedScanId, numberedScanRequest } from './fixtures/numbered-scan.ts';
import { openStore, type Store } from './open.ts';
import { newScanRow, pendingScan } from './scans/scan-row.ts';
import type { ScanTableRow } from './schema/tables.ts';

const run = promisify(execFile);

let store: Store;

describe('the file', () => {
  let dir: string;
  let file: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-store-'));
    file = join(dir, 'service.db');
    store = await openStore(file);
  });

  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('is for its owner only, in WAL mode, and shrinks on demand', async () => {
    await store.scans.insert(numberedScanRequest(1));
    for (const name of [file, `${file}-wal`, `${file}-shm`])
      expect((await stat(name)).mode & 0o777).toBe(0o600);
    const raw = new DatabaseSync(file);
    expect(raw.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(raw.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
    raw.close();
  });

  it('gives room back to the disk when much was deleted', async () => {
    await store.transaction(async ({ scans }) => {
      for (let n = 1; n <= 60; n++)
        await scans.insert(numberedScanRequest(n, { targets: ['x'.repeat(10_000)] }));
    });
    await store.emptyLog();
    const full = (await stat(file)).size;
    expect((await stat(`${file}-wal`)).size).toBe(0);
    await store.transaction(async ({ scans }) => {
      for (let n = 1; n <= 60; n++) await scans.delete(numberedScanId(n));
    });
    await store.releasePages();
    await store.emptyLog();
    expect([full > 1_500_000, (await stat(file)).size < full / 4]).toEqual([true, true]);
  });

  it('opens again with what it held', async () => {
    await store.scans.insert(numberedScanRequest(1));
    await store.close();
    store = await openStore(file);
    expect(await listedScans(store)).toEqual([numberedScanId(1)]);
  });

  it('that is no database is refused', async () => {
    const other = join(dir, 'other.db');
    await writeFile(other, 'this is not a database, however long it may be'.repeat(100));
    await expect(openStore(other)).rejects.toMatchObject({ code: 'configuration' });
    await expect(openStore(join(dir, 'no', 'folder.db'))).rejects.toMatchObject({ code: 'configuration' });
  });

  it('of a newer version is refused', async () => {
    await store.close();
    const raw = new DatabaseSync(file);
    raw.exec(
      "insert into kysely_migration (name, timestamp) values ('9999-future', '2030-01-01T00:00:00.000Z')",
    );
    raw.close();
    await expect(openStore(file)).rejects.toMatchObject({ code: 'configuration' });
    const again = new DatabaseSync(file);
    again.exec("delete from kysely_migration where name = '9999-future'");
    again.close();
    store = await openStore(file);
  });

  describe('of an older version', () => {
    let older: string;
    beforeEach(() => {
      older = join(dir, 'older.db');
    });

    async function open(): Promise<void> {
      await store.close();
      store = await openStore(older);
    }

    /** @param changes columns that differ from those of a new scan */
    const scanRow = (
      number: number,
      more: Partial<ScanRequest> = {},
      changes: Partial<ScanTableRow> = {},
    ) => {
      const asked = numberedScanRequest(number, more);
      return ['scans', { ...newScanRow(pendingScan(asked), asked, 'server', null), ...changes }] as const;
    };

    it('that divided scans otherwise forgets how: they are divided anew', async () => {
      await createOlderFile(older, '0010-stored-results');
      const shard = {
        scan_id: numberedScanId(1),
        shard: 0,
        of: 1,
        pool: 'default',
        state: 'running',
        attempt: 1,
      };
      const rest = { lapses: 0, rows: 7, command: 'run', rate: 100, spec: '{}' };
      insertIntoFile(older, [scanRow(1), ['shards', { ...shard, ...rest }]]);
      await open();
      expect(await store.shards.ofScan(numberedScanId(1))).toEqual([]);
      const plan = { addresses: ['192.0.2.1'], hostnames: {} };
      await store.shardJobs.insert(numberedScanId(1), 'default', plan, { line: 'shards', ids: ['job'] });
      expect(await store.shards.ofScan(numberedScanId(1))).toMatchObject([
        { shard: 0, state: 'waiting', rows: 0 },
      ]);
    });

    it('gets what is new and keeps what it held', async () => {
      const targets = Array.from({ length: 101 }, (_, index) => `192.0.2.${index}`);
      await createOlderFile(older, '0001-scans-tokens-jobs');
      insertIntoFile(older, [scanRow(1, { targets })]);
      await open();
      const record = {
        owner: '',
        key: 'k',
        digest: 'd',
        scan_id: numberedScanId(1),
        created_at: '2026-01-02T00:00:00.000Z',
      };
      const now = Date.parse(record.created_at);
      await store.idempotency.insert(record, now);
      expect(await store.idempotency.find('', 'k', now)).toEqual({ ...record, response: null });
      expect(await store.idempotency.find('token', 'k', now)).toBeNull();
      expect(await listedScans(store)).toEqual([numberedScanId(1)]);
      const [scan] = (await store.scans.list({ limit: 1, offset: 0 })).scans;
      expect(scan).toMatchObject({ targets: targets.slice(0, 10), targets_total: 101 });
    });

    it('that did not count its rows counts them', async () => {
      await createOlderFile(older, '0011-divisions');
      insertIntoFile(older, [scanRow(1), scanRow(2), scanRow(3, {}, { status: 'failed', size_bytes: 7 })]);
      await open();
      expect(await store.scans.totals()).toMatchObject({ scan_count: 3, size_bytes: 7 });
      expect((await store.scans.list({ status: 'failed', limit: 1, offset: 0 })).total).toBe(1);
    });
  });

  it('may be made by several processes at once', async () => {
    const fresh = join(dir, 'fresh.db');
    const module = JSON.stringify(new URL('./open.ts', import.meta.url).href);
    const source = `
      import { openStore } from ${module};
      const store = await openStore(${JSON.stringify(fresh)});
      console.log((await store.scans.totals()).scan_count);
      await store.close();`;
    const answers = Array.from({ length: 4 }, () =>
      run(process.execPath, ['--input-type=module', '-e', source]),
    );
    for (const { stdout } of await Promise.all(answers)) expect(stdout).toBe('0\n');
  });
});

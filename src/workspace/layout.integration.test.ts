import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOlderFile, insertIntoFile } from '../../test/older-store.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { openStore } from '../store/open.ts';
import { newScanRow, pendingScan } from '../store/scans/scan-row.ts';
import { type LayoutStep, layoutVersion, upgradeLayout } from './layout.ts';
import { openWorkspace } from './workspace.ts';

const oldest = '0001-scans-tokens-jobs';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-layout-'));
  await openWorkspace(dir);
});

afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const file = () => join(dir, 'service.db');

function request(): ScanRequest {
  return scanRequest({
    scan_id: '20261006-143022-a1b2c3',
    created_at: '2026-10-06T14:30:22.101Z',
    targets: ['10.0.0.1'],
    profile: 'quick',
    name: 'before',
    rate: 1,
  });
}

/** A store as the first version wrote it: its tables and one scan. */
async function writeFirstStore(): Promise<void> {
  await createOlderFile(file(), oldest);
  insertIntoFile(file(), [['scans', { ...newScanRow(pendingScan(request()), request(), 'server', null) }]]);
}

function migrationsIn(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const names = database.prepare('select name from kysely_migration order by name').all();
  database.close();
  return names.map(({ name }) => name as string);
}

describe('a store of the previous version', () => {
  it('is copied, then migrated; the copy is what it was', async () => {
    await writeFirstStore();
    const store = await openStore(file());
    expect(await store.scans.get(request().scan_id)).toMatchObject({ name: 'before', status: 'pending' });
    await store.close();
    expect(migrationsIn(file()).length).toBeGreaterThan(1);

    const copy = join(dir, 'backups', oldest, 'service.db');
    expect(migrationsIn(copy)).toEqual([oldest]);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'backups'))).mode & 0o777).toBe(0o700);
    expect(await readFile(join(dir, 'backups', oldest, 'workspace.version'), 'utf8')).toBe(
      `${layoutVersion}\n`,
    );
    const old = new DatabaseSync(copy, { readOnly: true });
    expect(old.prepare('select name from scans').all()).toEqual([{ name: 'before' }]);
    old.close();
  });

  it('is not copied again once it is migrated, and a new one never', async () => {
    await (await openStore(file())).close();
    await (await openStore(file())).close();
    expect(await readdir(dir)).not.toContain('backups');
  });

  it('is copied anew when the copy of an upgrade that broke off is torn', async () => {
    await writeFirstStore();
    const place = join(dir, 'backups', oldest);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'service.db'), 'torn');
    await (await openStore(file())).close();
    expect(migrationsIn(join(place, 'service.db'))).toEqual([oldest]);
    expect(await readdir(join(dir, 'backups'))).toEqual([oldest]);
  });

  it('stays what it was when there is no place for a copy', async () => {
    await writeFirstStore();
    await writeFile(join(dir, 'backups'), 'a file in its place');
    await expect(openStore(file())).rejects.toMatchObject({ code: 'configuration' });
    expect(migrationsIn(file())).toEqual([oldest]);
  });
});

describe('an older layout', () => {
  const steps = (runs: string[], failAt = 0): LayoutStep[] =>
    [layoutVersion + 1, layoutVersion + 2].map((to) => ({
      to,
      run: async (root) => {
        runs.push(`to ${to}`);
        if (to === failAt) throw new Error('broken off');
        await writeFile(join(root, `made-by-${to}`), '');
      },
    }));
  const version = () => readFile(join(dir, 'workspace.version'), 'utf8');

  it('is brought up step by step, with a copy of its beginning', async () => {
    await (await openStore(file())).close();
    const runs: string[] = [];
    await upgradeLayout(dir, steps(runs));
    expect(runs).toEqual([`to ${layoutVersion + 1}`, `to ${layoutVersion + 2}`]);
    expect(await version()).toBe(`${layoutVersion + 2}\n`);
    expect((await readdir(join(dir, 'backups', `layout-${layoutVersion}`))).sort()).toEqual([
      'service.db',
      'workspace.version',
    ]);
    expect(await readdir(dir)).not.toContain('workspace.upgrade');
    await expect(openWorkspace(dir)).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('install a newer portolan'),
    });
  });

  it('goes on behind the last whole step after a crash, and keeps the first copy', async () => {
    await (await openStore(file())).close();
    const runs: string[] = [];
    const last = layoutVersion + 2;
    await expect(upgradeLayout(dir, steps(runs, last))).rejects.toThrow('broken off');
    expect(await version()).toBe(`${layoutVersion + 1}\n`);
    const copy = join(dir, 'backups', `layout-${layoutVersion}`, 'service.db');
    const { ino } = await stat(copy);
    runs.length = 0;
    await upgradeLayout(dir, steps(runs));
    expect(runs).toEqual([`to ${last}`]);
    expect(await version()).toBe(`${last}\n`);
    expect((await stat(copy)).ino).toBe(ino);
    expect(await readdir(join(dir, 'backups'))).toEqual([`layout-${layoutVersion}`]);
  });

  it('is left alone while a server has the workspace', async () => {
    const lock = await (await openWorkspace(dir)).lock({ url: '' });
    const runs: string[] = [];
    await expect(upgradeLayout(dir, steps(runs))).rejects.toMatchObject({ code: 'configuration' });
    expect(runs).toEqual([]);
    await lock.release();
  });
});

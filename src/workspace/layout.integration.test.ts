import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { openStore } from '../store/open.ts';
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

/** A store as the first version wrote it: its tables and one scan, nothing that came later. */
async function writeFirstStore(): Promise<void> {
  const newest = await openStore(join(dir, 'newest.db'));
  await newest.scans.insert(request());
  await newest.close();
  const from = new DatabaseSync(join(dir, 'newest.db'));
  const old = new DatabaseSync(file());
  for (const table of ['scans', 'scan_tags', 'tokens', 'jobs']) old.exec(firstTable(table));
  old.exec(
    'create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
  );
  old.exec(
    'create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer default 0 not null)',
  );
  old.exec(`insert into kysely_migration values ('${oldest}', '2026-01-01T00:00:00.000Z')`);
  old.exec("insert into kysely_migration_lock values ('migration_lock', 0)");
  const columns = old
    .prepare("select name from pragma_table_info('scans')")
    .all()
    .map(({ name }) => name as string);
  const row = from.prepare(`select ${columns.join(', ')} from scans`).get() as Record<string, string>;
  old
    .prepare(`insert into scans (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`)
    .run(...columns.map((name) => row[name] ?? null));
  from.close();
  old.close();
  await rm(join(dir, 'newest.db'));
}

function firstTable(name: string): string {
  const tables: Record<string, string> = {
    scans: `scan_id text primary key not null, created_at text not null, status text not null, executor text not null,
      size_bytes bigint not null, started_at text, completed_at text, profile text not null, vuln integer not null,
      name text, pool text not null, live_hosts bigint not null, open_ports bigint not null,
      vulnerabilities bigint not null, tags text not null, progress text not null, severity_counts text not null,
      error text, notifications text not null, warnings text not null, stages text not null, targets text not null,
      searchable text not null, request text not null`,
    scan_tags: `tag text not null, scan_id text not null references scans (scan_id) on delete cascade,
      primary key (tag, scan_id)`,
    tokens: `id text primary key not null, name text not null, digest text not null, previous_digest text,
      previous_until text, scopes text not null, tenant text, created_at text not null, expires_at text,
      last_used_at text, revoked_at text`,
    jobs: `scan_id text primary key not null references scans (scan_id) on delete cascade, pool text not null,
      state text not null, position bigint not null, attempt integer not null, lease_until bigint, worker text,
      cancel_requested integer not null, created_at text not null, finished_at text`,
  };
  return `create table ${name} (${tables[name]})`;
}

function migrationsIn(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const names = database.prepare('select name from kysely_migration order by name').all();
  database.close();
  return names.map(({ name }) => name as string);
}

describe('T-083: a store of the previous version', () => {
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

describe('T-083: an older layout', () => {
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

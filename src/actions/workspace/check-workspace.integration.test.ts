import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { damagePage } from '../../store/fixtures/damaged-page.ts';
import { openStore } from '../../store/open.ts';
import { backUpStore } from '../../store/sqlite/backup.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { type ScanStorage, storedScanId, storeScan } from '../fixtures/stored-scan.ts';
import { type CheckReport, checkWorkspace } from './check-workspace.ts';
import { purgeLeftovers } from './purge-leftovers.ts';

let dir: string;
let place: ScanStorage;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-check-'));
  const workspace = await openWorkspace(dir);
  place = { workspace, store: await openStore(workspace.storeFile) };
});

afterEach(async () => {
  await place.store.close();
  await rm(dir, { recursive: true, force: true });
});

const check = (fix = false): Promise<CheckReport> => checkWorkspace({ ...place, served: false }, fix);
const nothing = { problems: [], found: 0, fixed: 0, left: 0 };

async function rowsOf(folder: ScanFolder): Promise<number> {
  let rows = 0;
  for await (const _ of recordIn(folder).rows()) rows++;
  return rows;
}

const compressed = { compress: true, keep_artifacts: false };
const withArtifacts = { compress: true, keep_artifacts: true };

it('finds nothing in a sound workspace, plain or compressed', async () => {
  await storeScan(place, 1, 20);
  await storeScan(place, 2, 20, withArtifacts);
  expect(await check()).toEqual({ scans: 2, ...nothing });
});

describe('a damaged scan is named with its path, mended, and the others are left alone', () => {
  it.each<[what: string, path: string, problem: string, damage: (folder: ScanFolder) => Promise<unknown>]>([
    ['a missing request', 'request.json', 'missing or damaged', (f) => rm(join(f.path, 'request.json'))],
    [
      'a damaged request',
      'request.json',
      'missing or damaged',
      (f) => truncate(join(f.path, 'request.json'), 9),
    ],
    ['a missing status', 'status.json', 'missing or damaged', (f) => rm(join(f.path, 'status.json'))],
    [
      'a damaged status',
      'status.json',
      'missing or damaged',
      (f) => writeFile(join(f.path, 'status.json'), '{'),
    ],
    ['a lost index', 'results.jsonl', 'index', (f) => rm(join(f.path, 'results.index'))],
    ['a half index', 'results.jsonl', 'index', (f) => truncate(join(f.path, 'results.index'), 10)],
    ['an open mode', 'request.json', 'other users', (f) => chmod(join(f.path, 'request.json'), 0o644)],
    ['an open folder', 'reports', 'other users', (f) => chmod(join(f.path, 'reports'), 0o755)],
    [
      'a draft',
      'status.json.0123456789ab.tmp',
      'a crash interrupted',
      (f) => oldFile(f, 'status.json.0123456789ab.tmp'),
    ],
    [
      'a draft of a record',
      'results.jsonl.new',
      'a crash interrupted',
      (f) => oldFile(f, 'results.jsonl.new'),
    ],
  ])('%s', async (_what, path, problem, damage) => {
    const folder = await storeScan(place, 1, 50);
    await storeScan(place, 2, 50);
    await damage(folder);
    const name = join('scans', storedScanId(1), path);
    const report = await check();
    expect(report.problems[0]).toMatchObject({
      path: name,
      problem: expect.stringContaining(problem),
      fixed: false,
    });
    expect(report.problems.every((found) => found.path.includes(storedScanId(1)))).toBe(true);
    expect(await check(true)).toMatchObject({ left: 0 });
    expect(await check()).toMatchObject(nothing);
    expect(await rowsOf(folder)).toBe(50);
    expect(await folder.request()).toMatchObject({ name: 'scan 1' });
  });

  async function oldFile(folder: ScanFolder, name: string): Promise<void> {
    await writeFile(join(folder.path, name), 'half', { mode: 0o600 });
    await utimes(join(folder.path, name), new Date(0), new Date(0));
  }
});

describe('a record', () => {
  it('without its end keeps every row that can be read', async () => {
    const folder = await storeScan(place, 1, 300);
    const file = join(folder.path, 'results.jsonl');
    const text = await readFile(file, 'utf8');
    await truncate(file, text.indexOf('\n', text.length / 2) + 20);
    const left = text.slice(0, text.length / 2).split('\n').length;
    expect((await check()).problems[0]).toMatchObject({ problem: expect.stringContaining('no end') });
    expect(await check(true)).toMatchObject({ left: 0 });
    expect(await rowsOf(folder)).toBe(left);
    expect(await recordIn(folder).summary()).toMatchObject({ status: 'completed' });
    expect(await check()).toMatchObject(nothing);
  });

  it('that is compressed and lost its end keeps every row that can be read', async () => {
    const folder = await storeScan(place, 1, 6000, compressed);
    const file = join(folder.path, 'results.jsonl.gz');
    await truncate(file, (await stat(file)).size - 10);
    expect(await check()).toMatchObject({ left: expect.any(Number) });
    expect((await check(true)).problems[0]?.path).toContain('results.jsonl');
    expect(await rowsOf(folder)).toBe(6000);
  });

  it('in two forms becomes one', async () => {
    const folder = await storeScan(place, 1, 100, { compress: true, keep_artifacts: false });
    const other = await storeScan(place, 2, 100);
    await copyFile(join(other.path, 'results.jsonl'), join(folder.path, 'results.jsonl'));
    await chmod(join(folder.path, 'results.jsonl'), 0o600);
    expect((await check()).problems.map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining('plain and compressed'),
    );
    await check(true);
    expect(await rowsOf(folder)).toBe(100);
    expect((await readdir(folder.path)).filter((name) => name.startsWith('results.jsonl'))).toHaveLength(1);
  });

  it('whose compressed index is lost gets a new one', async () => {
    const folder = await storeScan(place, 1, 6000, compressed);
    await rm(join(folder.path, 'results.members'));
    expect((await check()).problems[0]).toMatchObject({ problem: expect.stringContaining('index') });
    expect(await check(true)).toMatchObject({ left: 0 });
    expect(await rowsOf(folder)).toBe(6000);
    expect(await check()).toMatchObject(nothing);
  });

  it.each([{ compress: false, keep_artifacts: false }, compressed])(
    'with bad bytes is told of and never thrown away: %o',
    async (rules) => {
      const folder = await storeScan(place, 1, 6000, rules);
      const path = join(folder.path, rules.compress ? 'results.jsonl.gz' : 'results.jsonl');
      const file = await open(path, 'r+');
      await file.write(Buffer.alloc(40, 0xff), 0, 40, 300);
      await file.close();
      for (const fix of [false, true, false]) {
        expect(await check(fix)).toMatchObject({
          left: 1,
          problems: [{ problem: expect.stringContaining('has unreadable rows'), fixed: false }],
        });
      }
      // Compressed, it takes the rows of one block with it.
      expect(await rowsOf(folder)).toBeGreaterThanOrEqual(rules.compress ? 900 : 5990);
    },
  );

  it('that is gone is told of', async () => {
    const folder = await storeScan(place, 1, 10);
    await rm(join(folder.path, 'results.jsonl'));
    expect((await check(true)).problems[0]).toMatchObject({
      problem: expect.stringContaining('lost'),
      fixed: false,
    });
  });
});

describe('store and folders', () => {
  /** What is younger than a minute may be a submission under way. */
  async function age(path: string): Promise<void> {
    await utimes(path, new Date(0), new Date(0));
  }

  it('lists a scan again that the store forgot', async () => {
    await age((await storeScan(place, 1, 30)).path);
    await place.store.scans.delete(storedScanId(1));
    expect((await check()).problems).toEqual([
      {
        path: `scans/${storedScanId(1)}`,
        problem: 'is not listed in the store',
        remedy: '--fix lists it again',
        fixed: false,
      },
    ]);
    expect(await check(true)).toMatchObject({ fixed: 1, left: 0 });
    expect(await place.store.scans.get(storedScanId(1))).toMatchObject({
      status: 'completed',
      name: 'scan 1',
      results: { open_ports: 30 },
    });
    expect(await check()).toMatchObject(nothing);
  });

  it('lets a scan be whose folder is gone but that the result store has', async () => {
    const folder = await storeScan(place, 1, 3);
    await folder.remove();
    await place.store.scans.setStored(storedScanId(1), '2026-01-02T00:00:00.000Z');
    expect(await check()).toMatchObject({ problems: [], scans: 1 });
  });

  it('takes a scan off the list whose folder is gone', async () => {
    const folder = await storeScan(place, 1, 1);
    await rename(folder.path, join(dir, 'elsewhere'));
    await rm(join(dir, 'elsewhere'), { recursive: true });
    expect((await check()).problems[0]).toMatchObject({
      problem: expect.stringContaining('its folder with all results is gone'),
    });
    await check(true);
    expect(await place.store.scans.get(storedScanId(1))).toBeNull();
  });

  it('removes what submissions and deletions left, and only names what is foreign', async () => {
    const scans = join(dir, 'scans');
    await mkdir(join(scans, storedScanId(6)), { mode: 0o700 });
    await mkdir(join(scans, storedScanId(7)), { mode: 0o700 });
    await age(join(scans, storedScanId(7)));
    await mkdir(join(scans, `.deleted-${storedScanId(8)}-0a0b0c0d`), { mode: 0o700 });
    await writeFile(join(scans, 'notes.txt'), 'mine', { mode: 0o600 });
    expect(await check(true)).toMatchObject({ found: 3, fixed: 2, left: 1 });
    expect((await readdir(scans)).sort()).toEqual([storedScanId(6), 'notes.txt']);
  });

  it('names links, which nobody follows, and keeps their scans', async () => {
    const folder = await storeScan(place, 1, 1);
    await rename(folder.path, join(dir, 'elsewhere'));
    await symlink(join(dir, 'elsewhere'), folder.path);
    const linked = await storeScan(place, 2, 1);
    await rename(join(linked.path, 'results.jsonl'), join(linked.path, 'reports', 'rows'));
    await symlink('reports/rows', join(linked.path, 'results.jsonl'));
    const links = (await check(true)).problems.filter(({ problem }) => problem.startsWith('is a link'));
    expect(links.map(({ path, fixed }) => [path, fixed]).sort()).toEqual([
      [`scans/${storedScanId(1)}`, false],
      [`scans/${storedScanId(2)}/results.jsonl`, false],
    ]);
    expect(await place.store.scans.get(storedScanId(1))).not.toBeNull();
    expect(await rowsOf(folder)).toBe(0);
    expect(await rowsOf(linked)).toBe(0);
  });

  it('finds no fault in what a full disk did not let a scan write, and a server makes up for it', async () => {
    const folder = await storeScan(place, 1, 5);
    await place.store.scans.delete(storedScanId(1));
    await place.store.scans.insert(await folder.request());
    await place.store.scans.update(storedScanId(1), {
      status: 'failed',
      started_at: '2026-01-01T00:00:00.000Z',
      error: { code: 'insufficient_storage', message: 'full' },
    });
    const text = await readFile(join(folder.path, 'results.jsonl'), 'utf8');
    await truncate(join(folder.path, 'results.jsonl'), text.lastIndexOf('{'));
    await rm(join(folder.path, 'status.json'));
    await place.store.scans.setSize(storedScanId(1), await folder.sizeBytes());
    expect((await check()).problems).toEqual([]);
    await purgeLeftovers(place, async () => undefined, new AbortController().signal);
    expect(await recordIn(folder).summary()).toMatchObject({ status: 'failed', partial: true });
    expect(await rowsOf(folder)).toBe(5);
    expect(await folder.storedState()).toBe('failed');
    expect((await check()).problems).toEqual([]);
  });

  it('counts sizes anew', async () => {
    const folder = await storeScan(place, 1, 1);
    await place.store.scans.setSize(storedScanId(1), 12);
    expect((await check()).problems[0]).toMatchObject({
      problem: expect.stringContaining('the store has 12'),
    });
    await check(true);
    expect(await place.store.scans.totals()).toMatchObject({ size_bytes: await folder.sizeBytes() });
  });

  it('names the tables of a damaged store and the backup, and repairs nothing with it', async () => {
    await storeScan(place, 1, 1);
    const unlisted = await storeScan(place, 2, 1);
    await utimes(unlisted.path, new Date(0), new Date(0));
    await place.store.scans.delete(storedScanId(2));
    await backUpStore(place.workspace.storeFile, '0042-earlier');
    await place.store.close();
    await damagePage(place.workspace.storeFile, 'scans');
    place.store = await openStore(place.workspace.storeFile);
    const { problems } = await check(true);
    expect(problems).toEqual([
      {
        path: 'service.db',
        problem: expect.stringMatching(/malformed: tables .*scans/),
        remedy: expect.stringMatching(/backups\/0042-earlier\/service\.db of .*check --fix/),
        fixed: false,
      },
    ]);
  });
});

describe('tidying', () => {
  it('counts sizes and removes what crashes left, while requests go on', async () => {
    const first = await storeScan(place, 1, 10, withArtifacts);
    await storeScan(place, 2, 10);
    await appendFile(join(first.path, 'status.json'), '   ');
    await writeFile(join(first.path, 'results.jsonl.gz.new'), 'half');
    await utimes(join(first.path, 'results.jsonl.gz.new'), new Date(0), new Date(0));
    const report = await purgeLeftovers(place, async () => undefined, new AbortController().signal);
    expect(report).toEqual({ scans: 2, resized: 1, swept: 1, failed: 0 });
    expect(await check()).toMatchObject(nothing);
  });

  it('stops when it is told to', async () => {
    await storeScan(place, 1, 1);
    const report = await purgeLeftovers(place, async () => undefined, AbortSignal.abort());
    expect(report.scans).toBe(0);
  });
});

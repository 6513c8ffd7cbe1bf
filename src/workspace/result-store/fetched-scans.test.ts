import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryStore } from './directory-store.ts';
import { FetchedScans } from './fetched-scans.ts';
import { type ObjectStore, storeAway } from './object-store.ts';
import { ResultStore } from './result-store.ts';

const size = 1000;

describe('fetched scans', () => {
  let dir: string;
  let objects: DirectoryStore;
  /** Names of the objects that were read. */
  let reads: string[];
  let away: boolean;
  let free: number;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-fetched-'));
    await mkdir(join(dir, 'store'));
    objects = new DirectoryStore(join(dir, 'store'));
    await objects.check();
    [reads, away, free] = [[], false, 1e9];
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  const counted: ObjectStore = {
    put: (name, content) => objects.put(name, content),
    remove: (name) => objects.remove(name),
    async read(name, size) {
      if (away) throw storeAway('is away');
      reads.push(name);
      return await objects.read(name, size);
    },
  };
  const placeOf = (scanId: string) => ({ scanId, tenant: null });
  const keep = async (scanId: string) => {
    const folder = join(dir, 'scans', scanId);
    await mkdir(join(folder, 'artifacts', 'banners'), { recursive: true });
    await writeFile(join(folder, 'results.jsonl'), 'x'.repeat(size));
    await writeFile(join(folder, 'artifacts', 'banners', '1.txt'), 'banner');
    await new ResultStore(objects).keep(placeOf(scanId), folder);
  };
  const open = (limits = { idleMs: 60_000, bytes: 1e9 }) =>
    new FetchedScans(new ResultStore(counted), { dir, freeBytes: async () => free }, limits);
  const there = () => readdir(join(dir, 'cache', 'results')).catch(() => []);

  it('are fetched once, whoever asks, and the artifacts only for who wants them', async () => {
    await keep('one');
    const scans = open();
    const held = await Promise.all([1, 2, 3].map(() => scans.hold(placeOf('one'), 'record')));
    expect(reads).toEqual(['_/one/manifest.json', '_/one/results.jsonl']);
    const path = held[0]?.folder.path ?? '';
    expect(await readdir(path)).toEqual(['results.jsonl']);
    await Promise.all([1, 2].map(() => scans.hold(placeOf('one'), 'whole')));
    expect(reads.slice(2)).toEqual(['_/one/artifacts/banners/1.txt']);
    expect(await readFile(join(path, 'artifacts/banners/1.txt'), 'utf8')).toBe('banner');
    expect(await there()).toEqual(['one']);
  });

  it('stay while somebody reads and for a while after', async () => {
    await keep('one');
    const scans = open();
    const held = await scans.hold(placeOf('one'), 'whole');
    await scans.sweep(performance.now() + 1e9);
    expect(await there()).toEqual(['one']);
    held.release();
    held.release();
    await scans.sweep();
    expect(await there()).toEqual(['one']);
    await scans.sweep(performance.now() + 60_001);
    expect(await there()).toEqual([]);
    (await scans.hold(placeOf('one'), 'record')).release();
    expect(await there()).toEqual(['one']);
  });

  it('those that were read longest ago give way to others', async () => {
    for (const name of ['one', 'two', 'three']) await keep(name);
    const scans = open({ idleMs: 60_000, bytes: 2 * size });
    for (const name of ['one', 'two', 'three']) (await scans.hold(placeOf(name), 'record')).release();
    await expect.poll(there).toEqual(['three', 'two']);
  });

  it('leave nothing behind when the store is away or the disk full, and come later', async () => {
    await keep('one');
    const scans = open();
    away = true;
    await expect(scans.hold(placeOf('one'), 'record')).rejects.toMatchObject({ code: 'unavailable' });
    away = false;
    free = 10;
    await expect(scans.hold(placeOf('one'), 'record')).rejects.toMatchObject({
      code: 'insufficient_storage',
    });
    free = 1e9;
    await writeFile(join(dir, 'store/_/one/results.jsonl'), 'y'.repeat(size));
    await expect(scans.hold(placeOf('one'), 'record')).rejects.toMatchObject({ code: 'internal_error' });
    expect(await there()).toEqual([]);
    await writeFile(join(dir, 'store/_/one/results.jsonl'), 'x'.repeat(size));
    await scans.hold(placeOf('one'), 'record');
    expect(await there()).toEqual(['one']);
  });

  it('are fetched anew when somebody emptied the cache', async () => {
    await keep('one');
    const scans = open();
    (await scans.hold(placeOf('one'), 'record')).release();
    await rm(join(dir, 'cache'), { recursive: true });
    const { folder } = await scans.hold(placeOf('one'), 'record');
    expect(await readdir(folder.path)).toEqual(['results.jsonl']);
  });

  it('that are deleted while they come are not handed out', async () => {
    await keep('one');
    const scans = open();
    const coming = scans.hold(placeOf('one'), 'record');
    await scans.forget(placeOf('one'));
    await expect(coming).rejects.toMatchObject({ code: 'not_found' });
    expect(await there()).toEqual([]);
    (await scans.hold(placeOf('one'), 'record')).release();
    await scans.forget(placeOf('one'));
    expect(await there()).toEqual([]);
    expect(scans.places).toEqual([]);
  });

  it('of an earlier process are not used', async () => {
    await mkdir(join(dir, 'cache/results/one'), { recursive: true });
    const scans = open();
    await scans.clear();
    expect(await there()).toEqual([]);
  });
});

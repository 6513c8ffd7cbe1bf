import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryStore } from './directory-store.ts';
import { readResultManifest } from './manifest.ts';
import type { ObjectStore } from './object-store.ts';
import { storeAway } from './object-store.ts';
import { ResultStore } from './result-store.ts';

const place = { scanId: 'scan-20260101-aaaaaaaa', tenant: null };
const files = {
  'request.json': '{"a":1}\n',
  'results.jsonl': `${'{"type":"port"}\n'.repeat(50_000)}`,
  'artifacts/banners/10.0.0.1-22-tcp.txt': 'SSH-2.0-x\r\n',
  'reports/report.html': '',
};

describe('a result store', () => {
  let dir: string;
  let root: string;
  let folder: string;
  let directory: DirectoryStore;
  let store: ResultStore;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-results-'));
    root = join(dir, 'store');
    folder = join(dir, 'scan');
    await mkdir(root);
    directory = new DirectoryStore(root);
    await directory.check();
    store = new ResultStore(directory);
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  const fetched = async (from = store): Promise<Record<string, string>> => {
    const into = join(dir, 'fetched');
    await rm(into, { recursive: true, force: true });
    const manifest = await from.manifest(place);
    await from.fetch(place, manifest.files, into);
    const found: Record<string, string> = {};
    for (const { name } of manifest.files) found[name] = await readFile(join(into, name), 'utf8');
    return found;
  };
  const stored = (name: string) => join(root, '_', place.scanId, name);
  const everything = async () =>
    (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

  it('gives back every file of a scan, without drafts, links and shards', async () => {
    await writeFile(join(folder, 'status.json.0123456789ab.tmp'), 'x');
    await writeFile(join(folder, 'results.jsonl.gz.new'), 'x');
    await mkdir(join(folder, 'shards'));
    await writeFile(join(folder, 'shards', '0.jsonl'), 'x');
    await symlink('/etc/hostname', join(folder, 'link'));
    await store.keep(place, folder);
    expect(await fetched()).toEqual(files);
    const manifest = JSON.parse(await readFile(stored('manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({ version: 1, scan_id: place.scanId });
  });

  it('keeps tenants apart', async () => {
    await store.keep({ ...place, tenant: 'blue' }, folder);
    expect(await readdir(root)).toEqual(expect.arrayContaining(['blue']));
    await expect(store.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('stays as it is once it is sealed, and may be filled again and by two at once', async () => {
    await Promise.all([store.keep(place, folder), store.keep(place, folder)]);
    await writeFile(join(folder, 'request.json'), 'other');
    await store.keep(place, folder);
    expect(await fetched()).toEqual(files);
  });

  it('is not sealed before everything is there, and goes on where a try broke off', async () => {
    // Each attempt gets one object further.
    for (let budget = 0; budget < 20; budget++) {
      const broken = new ResultStore(failingAfter(directory, budget));
      const done = await broken.keep(place, folder).then(
        () => true,
        (error: { code?: string }) => {
          expect(error.code).toBe('unavailable');
          return false;
        },
      );
      if (done) {
        expect(await fetched()).toEqual(files);
        return;
      }
      await expect(store.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
    }
    throw new Error('it was never sealed');
  });

  it('removes what an earlier try has put and the folder has no more', async () => {
    const broken = new ResultStore(failingAfter(directory, 4));
    await expect(broken.keep(place, folder)).rejects.toMatchObject({ code: 'unavailable' });
    await rm(join(folder, 'results.jsonl'));
    await writeFile(join(folder, 'results.jsonl.gz'), 'packed');
    await store.keep(place, folder);
    expect(await readdir(stored(''))).not.toContain('results.jsonl');
    expect(Object.keys(await fetched())).toContain('results.jsonl.gz');
  });

  it('removes everything, the seal first, also after it broke off anywhere and was never sealed', async () => {
    for (let budget = 1; ; budget++) {
      await store.keep(place, folder);
      const broken = new ResultStore(failingAfter(directory, budget));
      const whole = await broken.remove(place).then(
        () => true,
        () => false,
      );
      await expect(store.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
      await store.remove(place);
      expect(await everything()).toEqual([]);
      if (whole) break;
    }
    await store.remove(place);
    await new ResultStore(failingAfter(directory, 3)).keep(place, folder).catch(() => undefined);
    expect((await everything()).length).toBeGreaterThan(0);
    await store.remove(place);
    expect(await everything()).toEqual([]);
  });

  it('a torn file, another one, a longer one or a missing one is never handed out', async () => {
    await store.keep(place, folder);
    const whole = await readFile(stored('results.jsonl'));
    const flipped = Buffer.from(whole);
    flipped[1000] = (flipped[1000] ?? 0) ^ 1;
    for (const bytes of [whole.subarray(0, -1), flipped, Buffer.concat([whole, whole])]) {
      await writeFile(stored('results.jsonl'), bytes);
      await expect(fetched()).rejects.toMatchObject({ code: 'internal_error' });
    }
    await rm(stored('results.jsonl'));
    await expect(fetched()).rejects.toThrow('results.jsonl is missing');
  });

  it('a file that changes while it is being put ends the try', async () => {
    const changing: ObjectStore = {
      read: (name, size) => directory.read(name, size),
      remove: (name) => directory.remove(name),
      async put(name, content) {
        if (name.endsWith('results.jsonl')) await appendFile(join(folder, 'results.jsonl'), '{"a":2}\n');
        await directory.put(name, content);
      },
    };
    await expect(new ResultStore(changing).keep(place, folder)).rejects.toMatchObject({ code: 'conflict' });
    await expect(store.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it.each([
    ['names a file twice', [entry('a'), entry('a')]],
    ['leads out of the folder', [entry('../a')]],
    ['leads to the root', [entry('/etc/passwd')]],
    ['has an empty part', [entry('a//b')]],
    ['has a hidden part', [entry('a/.b')]],
    ['has a control character', [entry('a\nb')]],
    ['has a name that is none', [{ ...entry('a'), name: 7 }]],
    ['has a size that is none', [{ ...entry('a'), size: -1 }]],
    ['has a hash that is none', [{ ...entry('a'), sha256: 'x' }]],
    ['has an entry that is none', [null]],
  ])('a manifest that %s is refused', (_what, listed) => {
    const text = JSON.stringify({ version: 1, scan_id: place.scanId, files: listed });
    expect(() => readResultManifest(text, place.scanId)).toThrow('manifest is damaged');
  });

  it('a manifest of another scan, another form or none at all is refused', () => {
    const text = (more: object) => JSON.stringify({ version: 1, scan_id: place.scanId, files: [], ...more });
    expect(readResultManifest(text({}), place.scanId).files).toEqual([]);
    expect(() => readResultManifest(text({ scan_id: 'scan-1' }), place.scanId)).toThrow('damaged');
    expect(() => readResultManifest(text({ version: 2 }), place.scanId)).toThrow('unknown format');
    expect(() => readResultManifest('{', place.scanId)).toThrow('unknown format');
  });
});

function entry(name: string) {
  return { name, size: 0, sha256: '0'.repeat(64) };
}

/** Accepts this many changes, then becomes unavailable. */
function failingAfter(objects: ObjectStore, changes: number): ObjectStore {
  let left = changes;
  const spend = () => {
    if (left-- <= 0) throw storeAway('is away');
  };
  return {
    read: (name, size) => objects.read(name, size),
    async put(name, content) {
      spend();
      await objects.put(name, content);
    },
    async remove(name) {
      spend();
      await objects.remove(name);
    },
  };
}

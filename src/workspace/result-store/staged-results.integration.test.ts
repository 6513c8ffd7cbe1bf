import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore, type Store } from '../../store/open.ts';
import { DatabaseObjects } from './database-objects.ts';
import { DirectoryStore } from './directory-store.ts';
import { type ObjectStore, storeAway } from './object-store.ts';
import { ResultStore } from './result-store.ts';
import { StagedResults } from './staged-results.ts';

const place = { scanId: '20260101-000000-00000a', tenant: null };
const ofTenant = { scanId: '20260101-000000-00000b', tenant: 'acme' };

describe('results that wait in the database', () => {
  let dir: string;
  let folder: string;
  let store: Store;
  let isAway: boolean;
  let staged: StagedResults;
  /** Where they stay. */
  let target: ResultStore;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-staged-'));
    folder = join(dir, 'scan');
    await mkdir(join(dir, 'target'));
    await mkdir(join(folder, 'artifacts'), { recursive: true });
    await writeFile(join(folder, 'results.jsonl'), 'x'.repeat(3_000_000));
    await writeFile(join(folder, 'artifacts', 'banner.txt'), 'SSH-2.0-x');
    store = await openStore(join(dir, 'service.db'));
    const directory = new DirectoryStore(join(dir, 'target'));
    await directory.check();
    target = new ResultStore(directory);
    isAway = false;
    staged = new StagedResults(store.resultObjects, reachable(directory));
    const stage = new ResultStore(new DatabaseObjects(store.resultObjects));
    await stage.replace(place, folder);
    await stage.replace(ofTenant, folder);
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  const reachable = (objects: ObjectStore): ObjectStore => {
    const there = () => {
      if (isAway) throw storeAway('is away');
      return objects;
    };
    return {
      put: async (...object) => await there().put(...object),
      read: async (...object) => await there().read(...object),
      remove: async (...object) => await there().remove(...object),
    };
  };
  const waiting = () => Array.fromAsync(staged.waiting());
  const banner = async (results: ResultStore): Promise<string> => {
    const into = join(dir, 'fetched');
    await rm(into, { recursive: true, force: true });
    const { files } = await results.manifest(place);
    await results.fetch(place, files, into);
    expect((await readFile(join(into, 'results.jsonl'))).length).toBe(3_000_000);
    return await readFile(join(into, 'artifacts/banner.txt'), 'utf8');
  };

  it('are read there while the result store is away, and listed until they are moved', async () => {
    isAway = true;
    expect(await banner(staged)).toBe('SSH-2.0-x');
    await expect(staged.move(place)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await waiting()).toEqual([place, ofTenant]);
    expect(await staged.countWaiting()).toBe(2);
    isAway = false;
    await staged.move(place);
    await staged.clearStage(place);
    expect(await waiting()).toEqual([ofTenant]);
    expect([await banner(staged), await banner(target)]).toEqual(['SSH-2.0-x', 'SSH-2.0-x']);
  });

  it('are not copied again to a result store that has them, whatever it responded', async () => {
    await staged.move(place);
    const written = vi.spyOn(DirectoryStore.prototype, 'put').mockRejectedValue(storeAway('broke off'));
    await staged.move(place);
    expect(written).not.toHaveBeenCalled();
    await expect(staged.move(ofTenant)).rejects.toMatchObject({ code: 'unavailable' });
    written.mockRestore();
  });

  it('are removed from both, and from neither while the result store is away', async () => {
    await staged.move(place);
    isAway = true;
    await expect(staged.remove(place)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await banner(staged)).toBe('SSH-2.0-x');
    isAway = false;
    await staged.remove(place);
    expect(await waiting()).toEqual([ofTenant]);
    await expect(target.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('are not moved when they are damaged: nothing is sealed', async () => {
    const [name, bytes] = [`_/${place.scanId}/artifacts/banner.txt`, Buffer.from('other-x-x')];
    await store.resultObjects.putWhole([{ name, bytes }]);
    await expect(staged.move(place)).rejects.toMatchObject({ code: 'internal_error' });
    await expect(target.manifest(place)).rejects.toMatchObject({ code: 'internal_error' });
    expect(await waiting()).toEqual([place, ofTenant]);
  });
});

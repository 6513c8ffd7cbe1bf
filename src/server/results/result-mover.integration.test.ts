import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import { deleteScan } from '../../actions/scans/delete-scan.ts';
import { loadConfig } from '../../config/load.ts';
import { openStore, type Store } from '../../store/open.ts';
import { DatabaseObjects } from '../../workspace/result-store/database-objects.ts';
import { DirectoryStore } from '../../workspace/result-store/directory-store.ts';
import { FetchedScans } from '../../workspace/result-store/fetched-scans.ts';
import { type ObjectStore, storeAway } from '../../workspace/result-store/object-store.ts';
import { ResultStore } from '../../workspace/result-store/result-store.ts';
import { StagedResults } from '../../workspace/result-store/staged-results.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { createServerLog, openLogOutput } from '../logging/log.ts';
import { ResultMover } from './result-mover.ts';

const pace = { lookMs: 60_000, retryMs: 20, longestRetryMs: 100 };

describe('the mover of results', () => {
  let dir: string;
  let workspace: Workspace;
  let store: Store;
  let objects: DirectoryStore;
  let away: boolean;
  let mover: ResultMover;
  /** Lines of the log. */
  let reported: string[];
  /** Outcomes of attempts. */
  let moves: string[];

  beforeEach(async () => {
    moves = [];
    dir = await mkdtemp(join(tmpdir(), 'portolan-mover-'));
    workspace = await openWorkspace(join(dir, 'ws'));
    store = await openStore(workspace.storeFile);
    await mkdir(join(dir, 'results'));
    objects = new DirectoryStore(join(dir, 'results'));
    await objects.check();
    [away, reported] = [false, []];
    mover = moverOn(passing);
  });

  afterEach(async () => {
    await mover.close();
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  const passing: ObjectStore = {
    async put(name, content, signal) {
      if (away) throw storeAway('is away');
      await objects.put(name, content, signal);
    },
    async read(name, size) {
      if (away) throw storeAway('is away');
      return await objects.read(name, size);
    },
    async remove(name) {
      if (away) throw storeAway('is away');
      await objects.remove(name);
    },
  };

  const moverOn = (
    through: ObjectStore,
    results = new ResultStore(through),
    isPresent: ((serverId: string) => Promise<boolean>) | null = null,
  ) => {
    const { config } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml') });
    const log = createServerLog(config.logging, openLogOutput(config.logging, workspace.dir));
    log.level = 'silent';
    const warn = (_facts: unknown, text: string) => void reported.push(`warn ${text}`);
    const watched = Object.assign(log, { warn, info: (text: string) => void reported.push(`info ${text}`) });
    const fetched = new FetchedScans(results, workspace);
    const onMove = (status: string) => void moves.push(status);
    return new ResultMover({
      store,
      workspace,
      results,
      fetched,
      isPresent,
      log: watched,
      onMove,
      pace,
    });
  };
  const placeOf = (number: number) => ({ scanId: storedScanId(number), tenant: null });
  const isStored = (number: number) => store.scans.storedAt(storedScanId(number)).then((at) => at !== null);
  const there = async () =>
    (await readdir(join(dir, 'results'), { recursive: true })).filter((name) => name.startsWith('_/'));

  it('stores what ended before it was there, and what ends later at once', async () => {
    for (const number of [1, 2]) await storeScan({ store, workspace }, number, 3);
    mover.start();
    await expect.poll(() => isStored(2)).toBe(true);
    expect(await isStored(1)).toBe(true);
    await storeScan({ store, workspace }, 3, 3);
    mover.wake();
    await expect.poll(() => moves).toEqual(['stored', 'stored', 'stored']);
    expect(await isStored(3)).toBe(true);
    expect(mover.fault).toBeNull();
  });

  it('tries again while the store is away, warns once, and says that it is back', async () => {
    for (const number of [1, 2]) await storeScan({ store, workspace }, number, 3);
    away = true;
    mover.start();
    await expect.poll(() => mover.fault).toBe('The result store is away.');
    await expect.poll(() => moves.length).toBeGreaterThan(3);
    expect(reported).toEqual(['warn cannot move results to the result store, retrying']);
    away = false;
    await expect.poll(() => moves.slice(-2)).toEqual(['stored', 'stored']);
    expect(await isStored(2)).toBe(true);
    expect(mover.fault).toBeNull();
    expect(reported.slice(1)).toEqual(['info result store available again']);
    expect(moves.slice(0, -2)).not.toContain('stored');
  });

  it('a scan whose folder is gone blocks no other', async () => {
    for (const number of [1, 2]) await storeScan({ store, workspace }, number, 3);
    await workspace.scan(storedScanId(1)).remove();
    mover.start();
    await expect.poll(() => isStored(2)).toBe(true);
    expect(await isStored(1)).toBe(false);
    expect(mover.fault).toBeNull();
  });

  it('what is deleted while it is being stored is gone from the store', async () => {
    await storeScan({ store, workspace }, 1, 3);
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    mover = moverOn({
      ...passing,
      async put(name, content, signal) {
        if (name.endsWith('results.jsonl')) {
          reached.resolve();
          await go.promise;
        }
        await objects.put(name, content, signal);
      },
    });
    mover.start();
    await reached.promise;
    const removed = mover.remove(placeOf(1));
    go.resolve();
    await removed;
    // Its row is deleted a moment later; until then it is not stored again.
    mover.wake();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await there()).toEqual([]);
    await store.scans.delete(storedScanId(1));
    mover.wake();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await there()).toEqual([]);
  });

  it('what another server deletes meanwhile is gone from the store', async () => {
    await storeScan({ store, workspace }, 1, 3);
    const sealed = Promise.withResolvers<void>();
    mover = moverOn({
      ...passing,
      async put(name, content, signal) {
        if (name.endsWith('manifest.json')) await store.scans.delete(storedScanId(1));
        await objects.put(name, content, signal);
        if (name.endsWith('manifest.json')) sealed.resolve();
      },
    });
    mover.start();
    await sealed.promise;
    await expect.poll(there).toEqual([]);
  });

  /** Deletes a scan on another server; `beforeRow` runs when its results are removed, before its row. */
  const deleteElsewhere = async (number: number, through: ResultStore, beforeRow: () => Promise<void>) => {
    const other = moverOn(passing, through, async () => true);
    const elsewhere = await openWorkspace(join(dir, 'other'));
    const results = {
      async remove(place: ReturnType<typeof placeOf>) {
        await other.remove(place);
        await beforeRow();
      },
      removeLate: (place: ReturnType<typeof placeOf>) => other.removeLate(place),
    };
    const context = { store, workspace: elsewhere, results } as Parameters<typeof deleteScan>[0];
    await deleteScan(context, storedScanId(number));
  };
  /** The results of a scan wait in the database. */
  const stage = async (number: number) => {
    const folder = workspace.scan(storedScanId(number));
    await new ResultStore(new DatabaseObjects(store.resultObjects)).replace(placeOf(number), folder.path);
    await store.scans.setStored(storedScanId(number), new Date().toISOString());
  };
  const isSeal = (name: string) => name.endsWith('/manifest.json');
  const isList = (name: string) => name.endsWith('/contents.json');
  /** Objects whose storing waits until the other server has removed the results. */
  const moments: [what: string, waits: (name: string) => boolean][] = [
    ['the list of the files', isList],
    ['all files', (name) => !isSeal(name) && !isList(name)],
    ['one file', (name) => name.endsWith('/results.jsonl')],
    ['the seal', isSeal],
  ];

  it.each([
    ['database', 'before'],
    ['database', 'after'],
    ['folder', 'before'],
    ['folder', 'after'],
  ])(
    'nothing of a scan that is moved from the %s stays when another server deletes it and the move ends %s the row goes',
    async (from, end) => {
      let number = 0;
      const through = (target: ObjectStore) =>
        from === 'database' ? new StagedResults(store.resultObjects, target) : new ResultStore(target);
      // Where the bytes are not read yet, the move fails: the database has them no more.
      for (const isRead of [true, false])
        for (const [what, waits] of moments) {
          number += 1;
          await storeScan({ store, workspace }, number, 3);
          if (from === 'database') await stage(number);
          const reached = Promise.withResolvers<void>();
          const go = Promise.withResolvers<void>();
          const slow: ObjectStore = {
            ...passing,
            async put(name, content, signal) {
              if (!waits(name)) return await objects.put(name, content, signal);
              const held = isRead ? await Array.fromAsync(content.bytes()) : null;
              reached.resolve();
              await go.promise;
              await objects.put(
                name,
                held ? { ...content, bytes: () => Readable.from(held) } : content,
                signal,
              );
            },
          };
          moves = [];
          mover = moverOn(slow, through(slow));
          mover.start();
          await reached.promise;
          const resume = async () => {
            go.resolve();
            await expect.poll(() => moves).toHaveLength(1);
          };
          await deleteElsewhere(number, through(passing), end === 'before' ? resume : async () => undefined);
          if (end === 'after') await resume();
          await mover.close();
          expect(await there(), `${what} ${isRead}`).toEqual([]);
          expect(await store.resultObjects.namesEndingWith('', '', 10)).toEqual([]);
        }
    },
  );

  it('what a broken-off attempt has left of a deleted scan is removed once the store is back', async () => {
    await storeScan({ store, workspace }, 1, 3);
    await stage(1);
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const slow: ObjectStore = {
      ...passing,
      async put(name, content, signal) {
        if (isSeal(name)) {
          away = true;
          reached.resolve();
          await go.promise;
          throw storeAway('is away');
        }
        const held = await Array.fromAsync(content.bytes());
        await objects.put(name, { ...content, bytes: () => Readable.from(held) }, signal);
      },
    };
    mover = moverOn(slow, new StagedResults(store.resultObjects, slow));
    mover.start();
    await reached.promise;
    // The list goes, as where the other server removed it before the files were stored.
    await objects.remove(`_/${storedScanId(1)}/contents.json`);
    const names = await store.resultObjects.namesEndingWith('', '', 10);
    for (const name of names) await store.resultObjects.remove(name);
    await store.scans.delete(storedScanId(1));
    go.resolve();
    await expect.poll(() => moves).toContain('failed');
    expect(await there()).not.toEqual([]);
    away = false;
    await expect.poll(there).toEqual([]);
  });

  it('a stop in the middle seals nothing; the next one stores it', async () => {
    await storeScan({ store, workspace }, 1, 3);
    const reached = Promise.withResolvers<void>();
    mover = moverOn({
      ...passing,
      put: async (_name, _content, signal) => {
        reached.resolve();
        await new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    });
    mover.start();
    await reached.promise;
    await mover.close();
    expect(await isStored(1)).toBe(false);
    expect(reported).toEqual([]);
    expect(moves).toEqual([]);
    mover = moverOn(passing);
    mover.start();
    await expect.poll(() => isStored(1)).toBe(true);
  });

  it('refuses to remove while the store is away, and stores the scan then', async () => {
    await storeScan({ store, workspace }, 1, 3);
    mover.start();
    await expect.poll(() => isStored(1)).toBe(true);
    away = true;
    await expect(mover.remove(placeOf(1))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await isStored(1)).toBe(false);
    away = false;
    mover.wake();
    await expect.poll(() => isStored(1)).toBe(true);
    await writeFile(join(dir, 'results', '_', storedScanId(1), 'stranger'), 'x');
    await mover.remove(placeOf(1));
    expect(await there()).toEqual([`_/${storedScanId(1)}`, `_/${storedScanId(1)}/stranger`]);
  });
});

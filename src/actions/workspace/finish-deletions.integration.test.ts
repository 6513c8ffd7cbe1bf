import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/open.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { storedScanId, storeScan } from '../fixtures/stored-scan.ts';
import { collectGarbage } from './collect-garbage.ts';
import { finishDeletions } from './finish-deletions.ts';

let dir: string;
let store: Store;
let workspace: Workspace;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-deletions-'));
  workspace = await openWorkspace(dir);
  store = await openStore(workspace.storeFile);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

it('takes a scan off the list whose deletion was cut off behind its folder', async () => {
  const folder = await storeScan({ store, workspace }, 1, 1);
  await storeScan({ store, workspace }, 2, 1);
  await folder.retire();
  expect(await finishDeletions({ store, workspace })).toEqual({ scan_ids: [storedScanId(1)], failed: 0 });
  expect(await store.scans.get(storedScanId(1))).toBeNull();
  expect(await readdir(join(dir, 'scans'))).toEqual([storedScanId(2)]);
});

it('removes what is left of a scan that is off the list, by whatever name', async () => {
  await mkdir(join(dir, 'scans', `.deleted-${storedScanId(1)}-0a0b0c0d`, 'reports'), { recursive: true });
  await mkdir(join(dir, 'scans', '.deleted-'));
  expect(await finishDeletions({ store, workspace })).toEqual({ scan_ids: [], failed: 0 });
  expect(await readdir(join(dir, 'scans'))).toEqual([]);
});

it('keeps a scan whose folder is there again', async () => {
  await storeScan({ store, workspace }, 1, 1);
  await mkdir(join(dir, 'scans', `.deleted-${storedScanId(1)}`));
  expect(await finishDeletions({ store, workspace })).toEqual({ scan_ids: [], failed: 0 });
  expect(await store.scans.get(storedScanId(1))).not.toBeNull();
  expect(await readdir(join(dir, 'scans'))).toEqual([storedScanId(1)]);
});

it('finishes a collection of garbage that was cut off at any moment', async () => {
  const folder = await storeScan({ store, workspace }, 1, 1);
  const names: string[][] = [];
  const watched = {
    scans: store.scans,
    scanAges: store.scanAges,
    releasePages: () => store.releasePages(),
    emptyLog: () => store.emptyLog(),
    transaction: async (work: (inside: Store) => Promise<unknown>) => {
      // Killed here, the scan is listed and its folder has the name that a start looks for.
      names.push(await readdir(join(dir, 'scans')));
      return await store.transaction(work);
    },
  } as unknown as Store;
  const retention = { enabled: false } as Parameters<typeof collectGarbage>[0]['retention'];
  const { report } = await collectGarbage(
    { store: watched, workspace, retention, results: null },
    { keep_last: 0 },
  );
  expect(report.errors).toEqual([]);
  expect(names).toEqual([[`.deleted-${storedScanId(1)}`]]);
  expect(await folder.isRetired()).toBe(false);
});

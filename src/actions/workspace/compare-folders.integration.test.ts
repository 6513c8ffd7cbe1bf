import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../../store/open.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { storedScanId, storeScan } from '../fixtures/stored-scan.ts';
import { compareFolders, type FolderComparison } from './compare-folders.ts';

let dir: string;
let store: Store;
let workspace: Workspace;
let pauses: number;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-compare-'));
  workspace = await openWorkspace(dir);
  store = await openStore(workspace.storeFile);
  pauses = 0;
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const hour = 3_600_000;

/** As a server does that started an hour ago. */
async function compare(signal = new AbortController().signal): Promise<FolderComparison | null> {
  const pause = async () => void pauses++;
  return await compareFolders({ store, workspace, startedAt: Date.now() - hour, pause, signal });
}

const nothing = { unlisted: 0, unlisted_scans: [], missing: 0, missing_scans: [], removed: 0 };

async function makeOlder(folder: Pick<ScanFolder, 'path'>): Promise<void> {
  const time = new Date(Date.now() - 2 * hour);
  await utimes(folder.path, time, time);
}

async function keep(...numbers: number[]): Promise<ScanFolder[]> {
  const folders: ScanFolder[] = [];
  for (const number of numbers) folders.push(await storeScan({ store, workspace }, number, 1));
  for (const folder of folders) await makeOlder(folder);
  return folders;
}

/** What a kill leaves of a submission before the scan is listed. */
async function cutOffSubmission(number: number): Promise<ScanFolder> {
  const folder = workspace.scan(storedScanId(number));
  await folder.create(scanRequest({ scan_id: storedScanId(number) }));
  await makeOlder(folder);
  return folder;
}

async function replaceStore(): Promise<void> {
  await store.close();
  for (const suffix of ['', '-wal', '-shm']) await rm(`${workspace.storeFile}${suffix}`, { force: true });
  store = await openStore(workspace.storeFile);
}

describe('compareFolders', () => {
  it('finds nothing in a workspace whose store belongs to it', async () => {
    await keep(1, 2, 3);
    expect(await compare()).toEqual(nothing);
  });

  it('counts and names the scan folders beside an empty store', async () => {
    await keep(1, 2, 3);
    await replaceStore();
    const { unlisted_scans, ...counts } = (await compare()) ?? nothing;
    expect(counts).toEqual({ unlisted: 3, missing: 0, missing_scans: [], removed: 0 });
    expect(unlisted_scans.toSorted()).toEqual([storedScanId(1), storedScanId(2), storedScanId(3)]);
  });

  it('distinguishes scans that a restored store lists again from those it lost', async () => {
    const [deleted] = await keep(1, 2);
    await rm(deleted?.path ?? '', { recursive: true });
    await keep(3);
    await store.scans.delete(storedScanId(3));
    expect(await compare()).toEqual({
      unlisted: 1,
      unlisted_scans: [storedScanId(3)],
      missing: 1,
      missing_scans: [storedScanId(1)],
      removed: 0,
    });
  });

  it('counts waiting scans whose folder is gone', async () => {
    await store.scans.insert(scanRequest({ scan_id: storedScanId(1) }));
    expect(await compare()).toMatchObject({ missing: 1, missing_scans: [storedScanId(1)] });
  });

  it('compares the folders of tenants with their rows', async () => {
    await workspace.makeTenants(['red']);
    const own = { store: store.forTenant('red'), workspace: workspace.forTenant('red') };
    await makeOlder(await storeScan(own, 1, 1));
    expect(await compare()).toEqual(nothing);
    await store.scans.delete(storedScanId(1));
    expect(await compare()).toMatchObject({ unlisted: 1, missing: 0 });
  });

  it('removes what a kill left of submissions', async () => {
    await keep(1);
    await cutOffSubmission(2);
    await mkdir(join(dir, 'scans', storedScanId(3)));
    await makeOlder(workspace.scan(storedScanId(3)));
    await writeFile(join((await cutOffSubmission(4)).path, 'request.json.0123456789ab.tmp'), '');
    await makeOlder(workspace.scan(storedScanId(4)));
    expect(await compare()).toEqual({ ...nothing, removed: 3 });
    expect(await readdir(join(dir, 'scans'))).toEqual([storedScanId(1)]);
  });

  it('removes nothing while the store may have lost scans', async () => {
    await keep(1);
    await cutOffSubmission(2);
    await store.scans.delete(storedScanId(1));
    expect(await compare()).toMatchObject({ unlisted: 1, removed: 0 });
    await rename(workspace.scan(storedScanId(1)).path, join(dir, 'elsewhere'));
    await store.scans.insert(scanRequest({ scan_id: storedScanId(1) }));
    expect(await compare()).toMatchObject({ missing: 1, removed: 0 });
    expect(await readdir(join(dir, 'scans'))).toEqual([storedScanId(2)]);
  });

  it('leaves submissions of now alone', async () => {
    await workspace.scan(storedScanId(1)).create(scanRequest({ scan_id: storedScanId(1) }));
    expect(await compare()).toEqual(nothing);
    expect(await readdir(join(dir, 'scans'))).toEqual([storedScanId(1)]);
  });

  it('works in pages and can be broken off between them', async () => {
    await store.transaction(async ({ scans }) => {
      for (let number = 0; number < 450; number++)
        await scans.insert(scanRequest({ scan_id: storedScanId(number) }));
    });
    for (let number = 0; number < 450; number++) await mkdir(join(dir, 'scans', storedScanId(number)));
    expect(await compare()).toEqual(nothing);
    expect(pauses).toBe(3);
    expect(await compare(AbortSignal.abort())).toBeNull();
  });
});

import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import { openStore, type Store } from '../../store/open.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';
import { StoreComparison } from './store-comparison.ts';

let dir: string;
let store: Store;
let workspace: Workspace;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-comparison-'));
  workspace = await openWorkspace(dir);
  store = await openStore(workspace.storeFile);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

it('says once what differs, names the command that repairs it, and forgets it when it is repaired', async () => {
  const folder = await storeScan({ store, workspace }, 1, 1);
  await utimes(folder.path, new Date(0), new Date(0));
  const request = await folder.request();
  await store.scans.delete(storedScanId(1));
  const log = { info: vi.fn(), warn: vi.fn() };
  const comparison = new StoreComparison({ store, workspace }, log as unknown as ServerLog, {
    firstMs: 1,
    betweenMs: 1,
  });
  comparison.start();
  try {
    await expect
      .poll(() => comparison.fault)
      .toMatch(/^1 scan folders are not listed.*workspace check --fix/);
    expect(log.warn.mock.calls).toEqual([
      [
        expect.objectContaining({ unlisted: 1, unlisted_scans: [storedScanId(1)], missing: 0 }),
        'store and scan folders differ',
      ],
    ]);
    await store.scans.insert(request);
    await expect.poll(() => comparison.fault).toBeNull();
    expect(log.warn).toHaveBeenCalledTimes(1);
  } finally {
    await comparison.close();
  }
});

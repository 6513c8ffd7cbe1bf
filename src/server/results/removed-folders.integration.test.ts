import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import { loadConfig } from '../../config/load.ts';
import { openStore, type Store } from '../../store/open.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { createServerLog, openLogOutput } from '../logging/log.ts';
import { RemovedFolders } from './removed-folders.ts';

let dir: string;
let workspace: Workspace;
let store: Store;
let removed: RemovedFolders;
const forgotten: string[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-removed-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
  const { config } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml') });
  const log = createServerLog(config.logging, openLogOutput(config.logging, workspace.dir));
  const indexes = { forget: (scanId: string) => void forgotten.push(scanId) };
  removed = new RemovedFolders({ store, workspace, indexes, log, pace: { firstMs: 0, betweenMs: 10 } });
});
afterEach(async () => {
  await removed.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const isHere = (number: number) => existsSync(workspace.scan(storedScanId(number)).path);

it('removes what is left of scans that other servers deleted, before its start and later, and nothing else', async () => {
  for (const number of [1, 2, 3]) await storeScan({ store, workspace }, number, 3);
  // Another server deletes the row; the folder is a matter of this one.
  await store.scans.delete(storedScanId(1));
  removed.start();
  await expect.poll(() => isHere(1)).toBe(false);
  expect([isHere(2), isHere(3)]).toEqual([true, true]);
  await store.scans.delete(storedScanId(2));
  await expect.poll(() => isHere(2)).toBe(false);
  expect(isHere(3)).toBe(true);
  expect(forgotten).toEqual([storedScanId(1), storedScanId(2)]);
});

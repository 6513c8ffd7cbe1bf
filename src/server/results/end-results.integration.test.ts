import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import { loadConfig } from '../../config/load.ts';
import { openStore, type Store } from '../../store/open.ts';
import { databaseResults } from '../../workspace/result-store/open-result-store.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { EndResults } from './end-results.ts';

const place = { scanId: storedScanId(1), tenant: null };
const held = { scanId: place.scanId, attempt: 1, owner: 'one' };

let dir: string;
let workspace: Workspace;
let store: Store;
let ends: EndResults;
const config = () => {
  const { config: loaded } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml') });
  return { ...loaded, queue: { ...loaded.queue, url: 'postgres://db.example/portolan' } };
};

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-ends-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
  ends = new EndResults({ store, workspace, config: config(), metrics: { resultsMoved: () => undefined } });
  await storeScan({ store, workspace }, 1, 3);
  await store.scanQueue.insert({ scanId: place.scanId, pool: 'default', owner: 'one' }, 0);
  await store.scanQueue.claim('w', 0, 1000, { owner: 'one' });
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const large = async () =>
  await writeFile(join(workspace.scan(place.scanId).path, 'artifact'), 'x'.repeat(33 * 1024 * 1024));
const end = async (run = { held, isFirst: true }) =>
  await ends.end(place, run, async (inside, files) => {
    if (!(await inside.undividedResults.holds(held))) return false;
    return await inside.scans.update(place.scanId, { name: 'ended' }, files);
  });
const names = async () => {
  const results = databaseResults(config(), store.resultObjects);
  return (await results?.manifest(place))?.files.map(({ name }) => name);
};

it.each([
  ['small', async () => undefined],
  ['large', large],
])('stores %s results with the end of their scan', async (_what, prepare) => {
  await prepare();
  expect(await end()).toBe(true);
  expect(await names()).toContain('status.json');
  expect(await store.scans.storedAt(place.scanId)).not.toBeNull();
  expect((await store.scans.get(place.scanId))?.name).toBe('ended');
});

it.each([
  ['small', async () => undefined],
  ['large', large],
])('stores nothing of %s results once another server has the scan', async (_what, prepare) => {
  await prepare();
  await store.execute("update scan_queue set owner_server = 'two'", []);
  expect(await end()).toBe(false);
  await expect(names()).rejects.toMatchObject({ code: 'internal_error' });
  expect((await store.execute('select name from result_objects', [])).rows).toEqual([]);
  expect((await store.scans.get(place.scanId))?.name).toBe('scan 1');
});

it('leaves nothing of large results whose scan is deleted before its end', async () => {
  await large();
  const deleted = await ends.end(place, { held, isFirst: true }, async (inside) => {
    await inside.scans.delete(place.scanId);
    return false;
  });
  expect(deleted).toBe(false);
  expect((await store.execute('select name from result_objects', [])).rows).toEqual([]);
});

it('ends a scan whose folder cannot be stored, which is left for later', async () => {
  await workspace.scan(place.scanId).remove();
  expect(await end()).toBe(false);
  expect(await store.scans.storedAt(place.scanId)).toBeNull();
  expect((await store.scans.get(place.scanId))?.name).toBe('ended');
});

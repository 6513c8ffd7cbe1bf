import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { port, summary } from '../../../test/result-rows.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { StageRecord } from '../../domain/scan.ts';
import { initialProgress } from '../../domain/scan-progress.ts';
import { openStore, type Store } from '../../store/open.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { concludeScan } from './finalize-scan.ts';

const scan_id = '20261006-143022-a1b2c3';

let dir: string;
let workspace: Workspace;
let store: Store;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-conclude-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const stage = (instance_id: string, more: Partial<StageRecord>): StageRecord => ({
  instance_id,
  module_type: instance_id,
  status: 'running',
  started_at: '2026-10-06T14:30:23.000Z',
  completed_at: null,
  items_in: 1,
  items_out: 1,
  error: null,
  ...more,
});

it('a scan whose record was finished ends with every stage ended, whatever was stored last', async () => {
  const request = scanRequest({ scan_id });
  const folder = workspace.scan(scan_id);
  await folder.create(request);
  await store.scans.insert(request);
  await store.scans.update(scan_id, {
    status: 'running',
    progress: {
      ...initialProgress(),
      unit: 'ports',
      tried: 250,
      not_tried: 50,
      hosts_done: 1,
      hosts_total: 2,
    },
    stages: [
      stage('ping', { status: 'skipped', error: 'discovery is off' }),
      stage('syn', { done: 250, total: 300, items_out_per_second: 12.5 }),
      stage('report', { status: 'pending', error: 'applies to the scan as a whole' }),
    ],
  });
  const record = await openRecord(folder);
  await record.append(port(22));
  await record.finish({ ...summary, scan_id, status: 'completed' });
  await record.close();
  await concludeScan({ store, workspace }, scan_id);
  const scan = await store.scans.get(scan_id);
  expect(scan).toMatchObject({
    status: 'completed',
    progress: { percent: 100, tried: 300, not_tried: 0, hosts_done: 2 },
  });
  expect(scan?.stages.map(({ status, error }) => [status, error])).toEqual([
    ['skipped', 'discovery is off'],
    ['completed', null],
    ['completed', null],
  ]);
  expect(scan?.stages[1]).toMatchObject({ done: 300, total: 300, items_out_per_second: 0 });
});

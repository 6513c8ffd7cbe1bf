import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ScanRequest, ScanStatus } from '../../domain/scan.ts';
import { openStore, type Store } from '../../store/open.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { collectGarbage, type GarbageRequest, type Retention } from './collect-garbage.ts';

const day = 86_400_000;
const off: Retention = {
  enabled: false,
  max_age: null,
  max_scans: null,
  min_free_space: null,
  protect: 0,
};

let dir: string;
let store: Store;
let workspace: Workspace;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-garbage-'));
  workspace = await openWorkspace(join(dir, 'ws'));
  store = await openStore(workspace.storeFile);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

/** A scan that was created so many days ago, with a file of 1000 bytes. */
async function scanOf(daysAgo: number, status: ScanStatus = 'completed'): Promise<string> {
  const created = new Date(Date.now() - daysAgo * day);
  const [date = '', time = ''] = created.toISOString().replace(/[-:]/g, '').split(/[T.]/);
  const scan_id = `${date}-${time}-${Math.random().toString(16).slice(2, 8).padEnd(6, '0')}`;
  const request: ScanRequest = scanRequest({
    scan_id,
    created_at: created.toISOString(),
    targets: ['127.0.0.1'],
    profile: 'quick',
    rate: 100,
  });
  await workspace.scan(scan_id).create(request);
  await writeFile(join(workspace.scan(scan_id).path, 'results.jsonl'), 'x'.repeat(1000));
  await store.scans.insert(request);
  if (status !== 'pending')
    await store.scans.update(scan_id, { status, completed_at: created.toISOString() });
  await store.scans.setSize(scan_id, await workspace.scan(scan_id).sizeBytes());
  return scan_id;
}

const run = (request: GarbageRequest, retention: Retention = off) =>
  collectGarbage({ store, workspace, retention, results: null }, request);
const collect = async (request: GarbageRequest, retention: Retention = off) =>
  (await run(request, retention)).report;
const left = async () => (await Array.fromAsync(store.scanAges.newestFirst())).map(({ scan_id }) => scan_id);

describe('criteria', () => {
  it('deletes what is older, with its files, and counts their bytes', async () => {
    const [old, older, young] = [await scanOf(31), await scanOf(40), await scanOf(29)];
    const bytes = (await workspace.scan(old).sizeBytes()) + (await workspace.scan(older).sizeBytes());
    const report = await collect({ older_than: '1mo' });
    expect(report).toEqual({
      dry_run: false,
      deleted_count: 2,
      deleted_scans: [older, old],
      freed_bytes: bytes,
      kept_count: 1,
      errors: [],
      policy: { older_than: '1mo', keep_last: null },
    });
    expect(bytes).toBeGreaterThan(2000);
    expect(await left()).toEqual([young]);
    expect(await workspace.scan(old).exists()).toBe(false);
    expect(await workspace.scan(young).exists()).toBe(true);
  });

  it('takes only what fails every criterion', async () => {
    const [a, b, c] = [await scanOf(10), await scanOf(20), await scanOf(30)];
    expect((await collect({ older_than: '5d', keep_last: 2 })).deleted_scans).toEqual([c]);
    expect((await collect({ older_than: '15d', keep_last: 0 })).deleted_scans).toEqual([b]);
    expect((await collect({ older_than: '15d', keep_last: 0 })).deleted_scans).toEqual([]);
    expect(await left()).toEqual([a]);
  });

  it('keeps the newest alone when only keep_last is given', async () => {
    const scans = [await scanOf(1), await scanOf(2), await scanOf(3)];
    expect((await collect({ keep_last: 1 })).deleted_scans).toEqual([scans[2], scans[1]]);
    expect((await collect({ keep_last: 0 })).deleted_scans).toEqual([scans[0]]);
  });

  it('never touches what waits or runs', async () => {
    const scans = [await scanOf(1, 'pending'), await scanOf(2, 'running'), await scanOf(3, 'failed')];
    const report = await collect({ keep_last: 0 });
    expect([report.deleted_scans, report.kept_count]).toEqual([[scans[2]], 2]);
    expect(await left()).toEqual([scans[0], scans[1]]);
  });

  it('deletes nothing in a dry run, and tells the same', async () => {
    await scanOf(40);
    const dry = await collect({ older_than: '30d', dry_run: true });
    expect(await left()).toEqual(dry.deleted_scans);
    expect(await collect({ older_than: '30d' })).toEqual({ ...dry, dry_run: false });
  });

  it('takes what another run left half deleted', async () => {
    const scan = await scanOf(40);
    await workspace.scan(scan).remove();
    expect(await collect({ keep_last: 0 })).toMatchObject({ deleted_scans: [scan], freed_bytes: 0 });
  });

  it('goes on after a scan that cannot be deleted, which stays listed', async () => {
    const [young, old] = [await scanOf(1), await scanOf(2)];
    const folderOf = workspace.scan.bind(workspace);
    workspace.forTenant = () => workspace;
    workspace.scan = (id) => {
      const folder = folderOf(id);
      const failure = Object.assign(new Error(`EACCES: ${folder.path}`), { code: 'EACCES' });
      if (id === old) folder.retire = () => Promise.reject(failure);
      return folder;
    };
    expect(await collect({ keep_last: 0 })).toMatchObject({
      deleted_scans: [young],
      kept_count: 1,
      errors: [{ scan_id: old, message: 'The scan could not be deleted (EACCES).' }],
    });
    expect(await left()).toEqual([old]);
  });

  it.each(['', '30', '-1d', 'NaN', '5m', '1h30m', '5x', '1e3d', '101y'])(
    'refuses older_than %j',
    async (older_than) => {
      const refusal = await collect({ older_than }).catch((error: PortolanError) => error);
      expect(refusal).toMatchObject({
        code: 'invalid_request',
        details: { fields: [{ field: 'older_than' }] },
      });
    },
  );
});

describe('a full disk', () => {
  it('is given the reserve and the room of the write-ahead log, and the scans that go are gone', async () => {
    await workspace.keepReserve();
    const reserve = join(workspace.dir, 'reserve');
    await scanOf(3);
    const kept = await scanOf(1);
    const wal = `${workspace.storeFile}-wal`;
    expect((await stat(wal)).size).toBeGreaterThan(0);
    // As on a disk where the log cannot grow: nothing is stored until it is empty.
    const full: Store = Object.assign(Object.create(store), {
      transaction: async (work: Parameters<Store['transaction']>[0]) => {
        const isFull = (await stat(wal)).size > 0 || existsSync(reserve);
        if (isFull) throw new PortolanError('insufficient_storage', 'full');
        return await store.transaction(work);
      },
      emptyLog: () => store.emptyLog(),
      releasePages: () => store.releasePages(),
    });
    const { report } = await collectGarbage(
      { store: full, workspace, retention: off, results: null },
      { keep_last: 1 },
    );
    expect(report).toMatchObject({ deleted_count: 1, errors: [] });
    expect(await left()).toEqual([kept]);
    // Kept again for the next time.
    expect(existsSync(reserve)).toBe(true);
  });
});

describe('the configured retention', () => {
  it('does nothing unless it is enabled', async () => {
    await scanOf(1000);
    const report = await collect({}, { ...off, max_scans: 0 });
    expect(report).toMatchObject({
      deleted_count: 0,
      kept_count: 1,
      policy: { older_than: null, keep_last: null },
    });
  });

  it('takes what breaks any cap, oldest first', async () => {
    const scans = [await scanOf(1), await scanOf(2), await scanOf(3), await scanOf(95)];
    const report = await collect({}, { ...off, enabled: true, max_age: 90 * day, max_scans: 2 });
    expect(report.deleted_scans).toEqual([scans[3], scans[2]]);
    expect(report.policy).toEqual({
      older_than: null,
      keep_last: null,
      retention: { max_age: '90d', max_scans: 2, min_free_space: null },
    });
  });

  describe('min_free_space', () => {
    const hour = 3_600_000;
    /** A disk that lacks so many bytes of the cap; what is deleted comes free. */
    async function lacking(bytes: number, protect = 0): Promise<Retention> {
      const at = await store.scans.totals();
      workspace.freeBytes = async () => 10_000 + at.size_bytes - (await store.scans.totals()).size_bytes;
      return { ...off, enabled: true, min_free_space: 10_000 + bytes, protect };
    }

    it('deletes the oldest scans until enough is free', async () => {
      const [young, , old] = [await scanOf(1), await scanOf(2), await scanOf(3)];
      const retention = await lacking(1500);
      const dry = await run({ dry_run: true }, retention);
      expect(dry).toMatchObject({ report: { deleted_count: 2 }, shortfall: null });
      const { report, shortfall } = await run({}, retention);
      expect([report.deleted_scans, shortfall]).toEqual([dry.report.deleted_scans, null]);
      expect(report.deleted_scans[0]).toBe(old);
      expect(await left()).toEqual([young]);
    });

    it('deletes nothing while enough is free', async () => {
      await scanOf(1);
      expect(await run({}, await lacking(0))).toMatchObject({
        report: { deleted_count: 0 },
        shortfall: null,
      });
    });

    it('deletes nothing when all old scans together would not free enough', async () => {
      const scans = [await scanOf(1), await scanOf(2)];
      const { size_bytes } = await store.scans.totals();
      const retention = await lacking(1_000_000);
      for (const dry_run of [true, false])
        expect(await run({ dry_run }, retention)).toMatchObject({
          report: { deleted_scans: [], errors: [] },
          shortfall: { min_free_space: 1_010_000, free: 10_000, clearable: size_bytes },
        });
      expect(await left()).toEqual(scans);
    });

    it('keeps the newest scans and those that ended less than an hour ago', async () => {
      const scans = [await scanOf(1), await scanOf(2), await scanOf(3), await scanOf(4)];
      const [, , third = '', fourth = ''] = scans;
      await store.scans.update(fourth, { completed_at: new Date(Date.now() - hour / 2).toISOString() });
      const { report } = await run({}, await lacking(1000, 2));
      expect(report.deleted_scans).toEqual([third]);
      const { shortfall } = await run({}, await lacking(1000, 2));
      expect(shortfall).toMatchObject({ clearable: 0 });
      expect(await left()).toEqual(scans.filter((scan) => scan !== third));
    });

    it('stops when deleting frees less than the sizes promised', async () => {
      for (const days of [1, 2, 3]) await scanOf(days);
      const retention = await lacking(1500);
      workspace.freeBytes = async () => 10_000;
      const { report, shortfall } = await run({}, { ...retention, min_free_space: 12_500 });
      // Two scans should have freed 2500 bytes and freed nothing; the one that is left cannot free that much.
      expect([report.deleted_count, shortfall?.free]).toEqual([2, 10_000]);
    });

    it('counts a scan once that another cap takes too', async () => {
      const scans = [await scanOf(1), await scanOf(2), await scanOf(3)];
      const retention = { ...(await lacking(1500)), max_age: 2.5 * day };
      const { report } = await run({ dry_run: true }, retention);
      expect(report.deleted_scans).toEqual([scans[2], scans[1]]);
    });
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../../store/open.ts';
import { listScans } from './list-scans.ts';

let dir: string;
let store: Store;
/** The newest first. */
const ids: string[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-lists-'));
  store = await openStore(join(dir, 'service.db'));
  await store.transaction(async (tx) => {
    for (let n = 0; n < 450; n++) {
      const created_at = new Date(Date.UTC(2026, 9, 6, 0, n)).toISOString();
      const scan_id = `20261006-143022-${String(n).padStart(6, '0')}`;
      await tx.scans.insert(scanRequest({ scan_id, created_at, tags: n % 2 === 0 ? ['even'] : [] }));
      ids.unshift(scan_id);
    }
  });
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

describe('a long page of scans', () => {
  it('is read in parts, between which the event loop turns, and is one page', async () => {
    let turns = 0;
    let listing = true;
    const count = () => {
      turns += 1;
      if (listing) setImmediate(count);
    };
    setImmediate(count);
    const list = await listScans(store, { limit: 430, offset: 10 });
    listing = false;
    expect(list.scans.map(({ scan_id }) => scan_id)).toEqual(ids.slice(10, 440));
    expect(list).toMatchObject({ total: 450, limit: 430, offset: 10, next_cursor: expect.any(String) });
    expect(turns).toBeGreaterThanOrEqual(4);
    const rest = await listScans(store, { limit: 1000, cursor: list.next_cursor as string });
    expect(rest.scans.map(({ scan_id }) => scan_id)).toEqual(ids.slice(440));
    expect(rest.next_cursor).toBeNull();
  });

  it('keeps to its filter', async () => {
    const { scans, total, next_cursor } = await listScans(store, { limit: 1000, tag: 'even' });
    expect([scans.length, total, next_cursor]).toEqual([225, 225, null]);
    expect(new Set(scans.map(({ scan_id }) => Number(scan_id.slice(-6)) % 2))).toEqual(new Set([0]));
  });

  it('ends where its limit does', async () => {
    for (const limit of [1, 99, 100, 101, 200]) {
      const { scans, next_cursor } = await listScans(store, { limit });
      expect([scans.length, next_cursor === null]).toEqual([limit, false]);
    }
    expect((await listScans(store, { limit: 450 })).next_cursor).toBeNull();
  });
});

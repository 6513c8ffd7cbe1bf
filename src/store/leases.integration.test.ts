import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from './open.ts';

let store: Store;

describe.each(storeEngines())('a lease in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin(), 60_000);
  afterAll(() => engine.end());
  beforeEach(async () => {
    store = await engine.empty();
  });

  it('belongs to one holder until it expires or is released', async () => {
    const { leases } = store;
    expect(await leases.holder('alerts')).toBeNull();
    expect(await leases.claim('alerts', 'a', 1000, 500)).toBe(true);
    expect(await leases.claim('alerts', 'b', 1499, 500)).toBe(false);
    expect(await leases.claim('other', 'b', 1499, 500)).toBe(true);
    // Each claim of the holder renews it.
    expect(await leases.claim('alerts', 'a', 1400, 500)).toBe(true);
    expect(await leases.claim('alerts', 'b', 1501, 500)).toBe(false);
    expect(await leases.claim('alerts', 'b', 1901, 500)).toBe(true);
    expect(await leases.holder('alerts')).toBe('b');
    expect(await leases.claim('alerts', 'a', 1902, 500)).toBe(false);
    await leases.release('alerts', 'a');
    expect(await leases.claim('alerts', 'a', 1903, 500)).toBe(false);
    await leases.release('alerts', 'b');
    expect(await leases.claim('alerts', 'a', 1904, 500)).toBe(true);
  });

  // Servers never share a file.
  if (engine.name !== 'SQLite')
    it('goes to one of many that claim it at the same time', async () => {
      const others = await Promise.all([openStore(engine.place()), openStore(engine.place())]);
      try {
        const claims = [store, ...others].flatMap(({ leases }, number) =>
          Array.from({ length: 5 }, () => leases.claim('alerts', `server:${number}`, 1000, 500)),
        );
        const held = await Promise.all(claims);
        expect([0, 5, 10].map((from) => new Set(held.slice(from, from + 5)).size)).toEqual([1, 1, 1]);
        expect(held.filter((one) => one)).toHaveLength(5);
      } finally {
        for (const one of others) await one.close();
      }
    });

  it('that is claimed in a transaction goes back with it', async () => {
    const broken = store.transaction(async (tx) => {
      await tx.leases.claim('alerts', 'a', 1000, 500);
      throw new Error('rolled back');
    });
    await expect(broken).rejects.toThrow('rolled back');
    expect(await store.leases.holder('alerts')).toBeNull();
  });
});

describe.each(storeEngines())('scans that ended lately and wait, in $name,', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin(), 60_000);
  afterAll(() => engine.end());

  it('are counted by how they ended', async () => {
    store = await engine.empty();
    const { scanQueue } = store;
    for (const [number, state] of (['done', 'failed', 'done', 'failed'] as const).entries()) {
      await store.scans.insert(scanRequest({ scan_id: `scan-${number}` }));
      await scanQueue.insert(`scan-${number}`, 'default', 1000);
      const claim = await scanQueue.claim('worker', 1000, 9000);
      await scanQueue.finish(
        { scanId: `scan-${number}`, attempt: claim?.attempt ?? 0 },
        state,
        2000 + number,
      );
    }
    await store.scans.insert(scanRequest({ scan_id: 'scan-9' }));
    await scanQueue.insert('scan-9', 'default', 1000);
    expect(await scanQueue.endedSince(new Date(0).toISOString())).toEqual({ failed: 2, total: 4 });
    expect(await scanQueue.endedSince(new Date(2001).toISOString())).toEqual({ failed: 2, total: 3 });
    expect(await scanQueue.endedSince(new Date(2004).toISOString())).toEqual({ failed: 0, total: 0 });
  });
});

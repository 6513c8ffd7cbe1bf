import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { openStore, type Store } from './open.ts';

let store: Store;

describe.each(storeEngines())('a lease in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin());
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
    // A claim by the holder renews the lease.
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

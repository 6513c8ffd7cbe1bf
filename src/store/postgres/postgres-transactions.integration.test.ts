import { beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { revokeToken } from '../../actions/access/revoke-token.ts';
import type { Isolation } from '../database.ts';
import { numberedScanId, numberedScanRequest } from '../fixtures/numbered-scan.ts';
import { openStore, type Store } from '../open.ts';

describe.skipIf(postgresObstacle() !== null)('transactions of two servers', () => {
  let first: Store;
  let second: Store;
  beforeEach(async () => {
    const url = await storeDatabase();
    first = await openStore(url);
    second = await openStore(url);
    return async () => {
      await first.close();
      await second.close();
    };
  });

  it('set up an empty database, however many start at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const url = await emptyDatabase();
      const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
      expect(await Promise.all(stores.map((store) => store.tokens.list()))).toEqual([[], [], [], []]);
      await Promise.all(stores.map((store) => store.close()));
    }
  });

  const addToken = (id: string, to = first) =>
    to.tokens.insert({
      id,
      name: id,
      digest: id.padEnd(64, '0'),
      previous_digest: null,
      previous_until: null,
      scopes: ['admin'],
      tenant: null,
      created_at: '2026-01-01T00:00:00.000Z',
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
  const rename = (store: Store, id: string, name: string) => store.tokens.update(id, { name });

  it.each<Isolation>(['serializable', 'read committed'])(
    'that change different rows do not wait for each other (%s)',
    async (isolation) => {
      await addToken('a');
      await addToken('b');
      await first.transaction(async (inside) => {
        await rename(inside, 'a', 'changed');
        await second.transaction(async (other) => rename(other, 'b', 'changed'), isolation);
        expect((await second.tokens.list()).map(({ name }) => name)).toEqual(['a', 'changed']);
      }, isolation);
      expect((await second.tokens.list()).map(({ name }) => name)).toEqual(['changed', 'changed']);
    },
  );

  it('hold up nobody for longer than 20 s when their server stands still', async ({ onTestFinished }) => {
    const shown = await first.execute('show idle_in_transaction_session_timeout', []);
    expect(shown.rows).toEqual([{ idle_in_transaction_session_timeout: '20s' }]);
    const url = await storeDatabase();
    const frozen = await openStore(`${url}?idle_in_transaction_session_timeout=300`);
    const other = await openStore(url);
    onTestFinished(async () => {
      await frozen.close();
      await other.close();
    });
    await addToken('a', other);
    const changed = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const late = frozen.transaction(async (inside) => {
      await rename(inside, 'a', 'frozen');
      changed.resolve();
      await goesOn.promise;
      await rename(inside, 'a', 'late');
    });
    await changed.promise;
    // It waits for the row.
    await rename(other, 'a', 'other');
    goesOn.resolve();
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    expect((await other.tokens.list()).map(({ name }) => name)).toEqual(['other']);
    await rename(frozen, 'a', 'again');
  });

  it('run again when another one has changed what they read', async () => {
    await addToken('a');
    let attempts = 0;
    await first.transaction(async (inside) => {
      attempts += 1;
      const token = await inside.tokens.find('a');
      if (attempts === 1) await second.transaction((other) => rename(other, 'a', 'second'));
      await rename(inside, 'a', `${token?.name}, first`);
    });
    expect(attempts).toBe(2);
    expect((await first.tokens.find('a'))?.name).toBe('second, first');
  });

  it('end with unavailable when they conflict each time', async () => {
    await addToken('a');
    let attempts = 0;
    const late = first.transaction(async (inside) => {
      attempts += 1;
      await inside.tokens.find('a');
      await second.transaction((other) => rename(other, 'a', String(attempts)));
      await rename(inside, 'a', 'late');
    });
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    expect((await first.tokens.find('a'))?.name).toBe(String(attempts));
  });

  it('do not both revoke a token because of the other one', async () => {
    for (let round = 0; round < 10; round++) {
      const ids = [`a${round}`, `b${round}`] as const;
      for (const id of ids) await addToken(id);
      const revoke = (store: Store, id: string) => revokeToken(store, id, { sparesLastAdmin: true });
      await Promise.allSettled([revoke(first, ids[0]), revoke(second, ids[1])]);
      const active = (await first.tokens.list()).filter(({ revoked_at }) => revoked_at === null);
      expect(active.length).toBeGreaterThan(0);
      for (const { id } of active) await revokeToken(first, id);
    }
  });

  it('with one idempotency key store one scan', async () => {
    const submit = (store: Store, number: number) =>
      store.transaction(async (inside) => {
        const earlier = await inside.idempotency.find('', 'key', Date.now());
        if (earlier) return earlier.scan_id;
        const { scan_id } = await inside.scans.insert(numberedScanRequest(number));
        const created_at = new Date().toISOString();
        await inside.idempotency.insert(
          { owner: '', key: 'key', digest: 'd', scan_id, created_at },
          Date.now(),
        );
        return scan_id;
      }, 'read committed');
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, at) => submit(at % 2 ? first : second, at + 1)),
    );
    expect(new Set(ids).size).toBe(1);
    expect((await first.rowCounts.of('scans')).total).toBe(1);
  });

  it('fill the queue to its limit and no further', async () => {
    const limit = 5;
    const submit = (store: Store, number: number) =>
      store.transaction(async (inside) => {
        await inside.scanQueue.serializeInserts();
        if ((await inside.scanQueue.pending()) >= limit) return;
        await inside.scans.insert(numberedScanRequest(number));
        await inside.scanQueue.insert({ scanId: numberedScanId(number), pool: 'default' }, Date.now());
      }, 'read committed');
    await Promise.all(Array.from({ length: 16 }, (_, at) => submit(at % 2 ? first : second, at + 1)));
    expect(await second.scanQueue.pending()).toBe(limit);
  });

  it('count the queue as its rows are', async () => {
    const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
    await Promise.all(
      numbers.map(async (number) => {
        const store = number % 2 ? first : second;
        await store.scans.insert(numberedScanRequest(number));
        await store.scanQueue.insert({ scanId: numberedScanId(number), pool: 'default' }, Date.now());
      }),
    );
    const claims = await Promise.all(
      [first, second, first].map((store) => store.scanQueue.claim('w', 0, Number.MAX_SAFE_INTEGER)),
    );
    expect(new Set(claims.map((claim) => claim?.scanId)).size).toBe(3);
    for (const claim of claims) if (claim) await second.scanQueue.finish(claim, 'done', Date.now());
    expect(await first.scanQueue.counts('2026')).toEqual({ pending: 9, running: 0, failed: 0 });
    await first.rowCounts.fold();
    expect(await second.scanQueue.pending()).toBe(9);
  });
});

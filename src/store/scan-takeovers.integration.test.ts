import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { ScanQueue } from '../queue/scan-queue.ts';
import { numberedScanId, numberedScanRequest } from './fixtures/numbered-scan.ts';
import type { Store } from './open.ts';

const here = { id: 'here', executor: 'server:here', resumesUndivided: true };

describe.each(storeEngines())('scans of a server that is gone, in $name,', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});
  let store: Store;
  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => {
    store = await engine.empty();
  });

  const queueOf = (home: string) => new ScanQueue(store, { leaseMs: 1000, home });
  const submit = async (number: number, home: string) => {
    const scanId = numberedScanId(number);
    await store.scans.insert(numberedScanRequest(number));
    await queueOf(home).enqueue(store, { scanId, pool: 'default', isSmall: false });
    return scanId;
  };
  const take = (most: number) => store.transaction((inside) => inside.scanTakeovers.take('gone', here, most));

  it('are taken over some at a time, and those of others never', async () => {
    const scans = [];
    for (let number = 1; number <= 5; number++) scans.push(await submit(number, 'gone'));
    await submit(6, 'other');
    const taken = [];
    for (const count of [2, 2, 1, 0]) {
      const some = await take(2);
      expect(some).toHaveLength(count);
      taken.push(...some.map(({ scanId }) => scanId));
    }
    expect(taken.toSorted()).toEqual(scans);
    for (const scanId of scans) expect(await store.scans.ownerOf(scanId)).toBe('here');
    expect(await queueOf('other').claim('w')).toMatchObject({ scanId: numberedScanId(6) });
  });

  it('are left to others when they run undivided and the taker has no place for such', async () => {
    const [waiting, undivided, divided] = [
      await submit(1, 'gone'),
      await submit(2, 'gone'),
      await submit(3, 'gone'),
    ];
    for (const scanId of [undivided, divided]) await store.scans.update(scanId, { status: 'running' });
    const plan = { addresses: ['10.0.0.1'], hostnames: {} };
    await store.shardJobs.insert(divided, 'lab', plan, { line: 'shards', ids: ['job 0'] });
    const other = { ...here, resumesUndivided: false };
    expect(await store.scanTakeovers.isLeft('gone', other)).toBe(true);
    const taken = await store.transaction((inside) => inside.scanTakeovers.take('gone', other, 10));
    expect(taken.map(({ scanId }) => scanId).toSorted()).toEqual([waiting, divided]);
    expect(await store.scanTakeovers.isLeft('gone', other)).toBe(false);
    expect(await store.scanTakeovers.isLeft('gone', here)).toBe(true);
    expect((await take(10)).map(({ scanId }) => scanId)).toEqual([undivided]);
    expect(await store.scanTakeovers.isLeft('gone', here)).toBe(false);
  });

  it('wait again, but for canceled ones, which only have to be ended', async () => {
    const [running, canceled] = [await submit(1, 'gone'), await submit(2, 'gone')];
    const queue = queueOf('gone');
    expect(await queue.claim('w')).toMatchObject({ scanId: running });
    expect(await queue.claim('w')).toMatchObject({ scanId: canceled });
    await queue.cancel(canceled);
    const taken = await take(10);
    expect(taken).toHaveLength(2);
    expect(taken).toContainEqual(expect.objectContaining({ scanId: running, isCanceled: false }));
    expect(taken).toContainEqual(expect.objectContaining({ scanId: canceled, isCanceled: true }));
    expect(await queueOf('here').claim('w')).toMatchObject({ scanId: running, attempt: 2 });
    expect(await queueOf('here').claim('w')).toBeNull();
  });
});

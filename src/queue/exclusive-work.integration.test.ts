import { PgBoss } from 'pg-boss';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../test/postgres.ts';
import { openStore, type Store } from '../store/open.ts';
import { Dispatcher } from './dispatcher.ts';
import { ExclusiveWork } from './exclusive-work.ts';

describe.skipIf(postgresObstacle() !== null)('exclusive work', () => {
  let url: string;
  let store: Store;
  /** One for each host. */
  let dispatchers: Dispatcher[];
  beforeEach(async () => {
    url = await storeDatabase();
    store = await openStore(url);
    dispatchers = [
      await Dispatcher.start(url, () => undefined),
      await Dispatcher.start(url, () => undefined),
    ];
  });
  afterEach(async () => {
    for (const dispatcher of dispatchers) await dispatcher.close();
    await store.close();
  });
  const hosts = () => dispatchers.map((dispatcher) => new ExclusiveWork(store, dispatcher, 'garbage'));
  const nothing = async () => 'done';

  it('is done by one host at a time', async () => {
    const [a, b] = hosts() as [ExclusiveWork, ExclusiveWork];
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = a.run(async () => {
      begun.resolve();
      await gate.promise;
      return 'first';
    });
    await begun.promise;
    expect(await b.run(nothing)).toBeNull();
    gate.resolve();
    expect(await first).toEqual({ done: 'first' });
    expect(await b.run(nothing)).toEqual({ done: 'done' });
  });

  it('may take hours, as long as its host gives heartbeats', async () => {
    const [dispatcher] = dispatchers as [Dispatcher];
    await dispatcher.claimOnly('garbage', 15_000);
    const { rows } = await store.execute(
      'select heartbeat_seconds, expire_seconds from portolan_queue.job where state = $1',
      ['active'],
    );
    expect(rows).toEqual([{ heartbeat_seconds: 15, expire_seconds: 24 * 3600 }]);
  });

  it('is done once, however many hosts begin at the same time', async () => {
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await nothing();
      running--;
    };
    for (let round = 0; round < 20; round++) await Promise.all(hosts().map((host) => host.run(work)));
    expect(most).toBe(1);
  });

  it('may be done again after a failure', async () => {
    const [a, b] = hosts() as [ExclusiveWork, ExclusiveWork];
    await expect(a.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await b.run(nothing)).toEqual({ done: 'done' });
  });

  it('goes to another host when its own one died, also before it had claimed the work', async () => {
    const [a, b] = dispatchers as [Dispatcher, Dispatcher];
    expect(await a.claimOnly('garbage', 15_000)).not.toBeNull();
    expect(await b.claimOnly('garbage', 15_000)).toBeNull();
    await store.execute(
      `update portolan_queue.job set heartbeat_on = heartbeat_on - interval '16 seconds' where state = 'active'`,
      [],
    );
    const boss = new PgBoss({ connectionString: url, schema: 'portolan_queue', supervise: false });
    await boss.start();
    await boss.supervise('garbage');
    const claim = await b.claimOnly('garbage', 15_000);
    if (claim === null) throw new Error('the work of a dead host was not to be had');
    await b.complete(store, claim);
    await boss.send('garbage');
    await boss.stop({ graceful: false });
    expect(await b.claimOnly('garbage', 15_000)).not.toBeNull();
  });
});

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, runStatements, storeDatabase } from '../../test/postgres.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../store/open.ts';
import { Dispatcher } from './dispatcher.ts';
import { ShardQueue } from './shard-queue.ts';
import { WakeUps } from './wake-ups.ts';

const pool = 'lab';
const scanId = '20260101-000000-00000a';
const patience = { timeout: 15_000 };

describe.skipIf(postgresObstacle() !== null)('notifications between hosts', () => {
  let url: string;
  let wakeUps: WakeUps;
  let client: pg.Client;
  /** What every host hears. */
  let heard: pg.Notification[];

  beforeEach(async () => {
    url = await storeDatabase();
    heard = [];
    client = new pg.Client({ connectionString: url });
    client.on('notification', (notification) => heard.push(notification));
    await client.connect();
    await client.query('listen portolan_shards; listen portolan_work');
    wakeUps = new WakeUps(url);
    await expect.poll(async () => (await ownConnections()).length, patience).toBe(1);
  });
  afterEach(async () => {
    await wakeUps.close();
    await client.end();
  });

  const ownConnections = async (): Promise<number[]> => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'portolan wake-ups'
        and query like '%portolan_work%'`,
    );
    return rows.map(({ pid }) => pid);
  };
  const payloads = () => heard.map(({ channel, payload }) => `${channel} ${payload}`);

  it('reach every host, one for each scan however often it changes', async () => {
    const woken: string[] = [];
    const other = new WakeUps(url);
    other.on('shards', (id) => woken.push(id));
    other.on('work', () => woken.push('work'));
    await expect.poll(async () => (await ownConnections()).length, patience).toBe(2);
    for (let i = 0; i < 1000; i++) for (const id of ['a', 'b']) wakeUps.notify('shards', id);
    wakeUps.notify('work');
    await expect.poll(() => woken.toSorted(), patience).toEqual(['a', 'b', 'work']);
    await other.close();
    expect(payloads().toSorted()).toEqual(['portolan_shards a', 'portolan_shards b', 'portolan_work ']);
  });

  it('go on over a new connection when theirs was cut', async () => {
    const [pid] = await ownConnections();
    await runStatements(url, [`select pg_terminate_backend(${pid})`]);
    const again = async () => {
      wakeUps.notify('work');
      return heard.length > 0;
    };
    await expect.poll(again, patience).toBe(true);
  });

  it('that come last are sent before the end', async () => {
    wakeUps.notify('work');
    await wakeUps.close();
    await client.query('select 1');
    expect(payloads()).toEqual(['portolan_work ']);
  });

  describe('about shards', () => {
    let store: Store;
    let dispatcher: Dispatcher;

    beforeEach(async () => {
      store = await openStore(url);
      dispatcher = await Dispatcher.start(url, () => undefined);
    });
    afterEach(async () => {
      await dispatcher.close();
      await store.close();
    });

    /** Changes of shards, one after another, with the notifications that each one has to send. */
    async function* changes(line: ShardQueue): AsyncGenerator<[string, ...string[]]> {
      const [work, shards] = ['portolan_work ', `portolan_shards ${scanId}`];
      const request = scanRequest({
        scan_id: scanId,
        created_at: new Date().toISOString(),
        targets: [],
        pool,
      });
      await store.scans.insert(request);
      await line.layOut(request, { addresses: ['10.0.0.0-10.0.3.255'], hostnames: {} }, 3);
      yield ['laid out', work];
      const next = async () => {
        const shard = await line.claim('w', [pool]);
        if (shard === null) throw new Error('there was no shard to claim');
        return shard;
      };
      let shard = await next();
      yield ['claimed', shards];
      await line.begin(scanId);
      await line.firstHeartbeat(shard, { appliedCommand: 'run', appliedRate: 1 });
      yield ['first heartbeat', shards];
      await line.grant(scanId, [{ shard: shard.shard, rate: 10 }]);
      yield ['granted', shards];
      await line.setRules(scanId, '{}');
      yield ['rules', shards];
      await line.release(shard);
      yield ['released', work, shards];
      shard = await next();
      yield ['claimed again', shards];
      await line.finish(shard, '{}');
      yield ['finished', shards];
      shard = await next();
      yield ['next claimed', shards];
      await line.abandon(shard);
      yield ['abandoned', shards];
      await line.lapse(scanId);
      yield ['lapsed', work, shards];
      await line.command(scanId, 'cancel');
      yield ['canceled', shards];
    }

    it('come from a connection of their own: a transaction that notifies would hold up all others', async () => {
      const line = new ShardQueue(store, dispatcher, { leaseMs: 12_000, maxAttempts: 3 });
      for await (const [change] of changes(line)) {
        await client.query('select 1');
        expect([change, payloads()]).toEqual([change, []]);
      }
    });

    it('are sent for each change', async () => {
      const line = new ShardQueue(store, dispatcher, { leaseMs: 12_000, maxAttempts: 3, wakeUps });
      for await (const [change, ...due] of changes(line)) {
        await expect
          .poll(() => [change, [...new Set(payloads())].toSorted()], patience)
          .toEqual([change, due.toSorted()]);
        heard = [];
      }
    });
  });
});

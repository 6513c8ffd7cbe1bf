import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, runStatements, startPostgres, type TestPostgres } from '../../test/postgres.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../store/open.ts';
import { Dispatcher } from './dispatcher.ts';
import { ShardQueue } from './shard-queue.ts';
import { WakeUps } from './wake-ups.ts';

const pool = 'lab';
const scanId = '20260101-000000-00000a';
const patience = { timeout: 15_000 };

describe.skipIf(postgresObstacle() !== null)('notifications between hosts', () => {
  let postgres: TestPostgres;
  let url: string;
  let wakeUps: WakeUps;
  let client: pg.Client;
  /** What every host hears. */
  let heard: pg.Notification[];

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: 'off' });
  });
  afterAll(() => postgres.remove());
  beforeEach(async () => {
    url = await postgres.database();
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
    for (let i = 0; i < 1000; i++) for (const id of ['a', 'b']) wakeUps.tell('shards', id);
    wakeUps.tell('work');
    await expect.poll(() => woken.toSorted(), patience).toEqual(['a', 'b', 'work']);
    await other.close();
    expect(payloads().toSorted()).toEqual(['portolan_shards a', 'portolan_shards b', 'portolan_work ']);
  });

  it('go on over a new connection when theirs was cut', async () => {
    const [pid] = await ownConnections();
    await runStatements(url, [`select pg_terminate_backend(${pid})`]);
    const again = async () => {
      wakeUps.tell('work');
      return heard.length > 0;
    };
    await expect.poll(again, patience).toBe(true);
  });

  it('that are told last are sent before the end', async () => {
    wakeUps.tell('work');
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

    /** All that can happen to shards. */
    async function runShards(line: ShardQueue): Promise<void> {
      const request = scanRequest({
        scan_id: scanId,
        created_at: new Date().toISOString(),
        targets: [],
        pool,
      });
      await store.scans.insert(request);
      await line.layOut(request, { addresses: ['10.0.0.0-10.0.3.255'], hostnames: {} }, 3);
      const next = async () => {
        const shard = await line.claim('w', [pool]);
        if (shard === null) throw new Error('there was no shard to claim');
        return shard;
      };
      const shard = await next();
      await line.begin(scanId);
      await line.firstHeartbeat(shard, { appliedCommand: 'run', appliedRate: 1 });
      await line.grant(scanId, [{ shard: shard.shard, rate: 10 }]);
      await line.setRules(scanId, '{}');
      await line.release(shard);
      await line.finish(await next(), '{}');
      await line.abandon(await next());
      await line.lapse(scanId);
      await line.command(scanId, 'cancel');
      await line.endWaiting(scanId);
      await line.buryDead();
    }

    it('come from a connection of their own: a transaction that notifies would hold up all others', async () => {
      await runShards(new ShardQueue(store, dispatcher, { leaseMs: 12_000, maxAttempts: 3 }));
      await client.query('select 1');
      expect(payloads()).toEqual([]);
    });

    it('are sent for each change', async () => {
      await runShards(new ShardQueue(store, dispatcher, { leaseMs: 12_000, maxAttempts: 3, wakeUps }));
      await wakeUps.close();
      await client.query('select 1');
      expect(new Set(payloads())).toEqual(new Set(['portolan_work ', `portolan_shards ${scanId}`]));
    });
  });
});

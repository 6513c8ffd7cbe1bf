import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../test/postgres.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../store/open.ts';
import { Dispatcher } from './dispatcher.ts';
import { type QueuedShard, ShardQueue } from './shard-queue.ts';

const maxAttempts = 3;
const leaseMs = 12_000;
const pool = 'lab';
const large = ['10.0.0.0-10.0.3.255'];

describe.skipIf(postgresObstacle() !== null)('the queue of shards', () => {
  let url: string;
  let store: Store;
  let dispatcher: Dispatcher;
  let line: ShardQueue;
  const failures: unknown[] = [];

  beforeEach(async () => {
    url = await storeDatabase();
    store = await openStore(url);
    dispatcher = await Dispatcher.start(url, (error) => failures.push(error));
    line = new ShardQueue(store, dispatcher, { leaseMs, maxAttempts });
  });
  afterEach(async () => {
    await dispatcher.close();
    await store.close();
    expect(failures.splice(0)).toEqual([]);
  });

  async function layOut(
    scan_id: string,
    of = 1,
    { addresses = large, priority = 5 }: { addresses?: string[]; priority?: number } = {},
  ): Promise<void> {
    const request = scanRequest({
      scan_id,
      created_at: new Date().toISOString(),
      targets: [],
      pool,
      priority,
    });
    await store.scans.insert(request);
    await line.layOut(request, { addresses, hostnames: {} }, of);
  }

  const claim = () => line.claim('w', [pool]);
  async function held(): Promise<QueuedShard> {
    const shard = await claim();
    if (shard === null) throw new Error('there was no shard to claim');
    return shard;
  }
  const names = async (count: number) => {
    const claimed: string[] = [];
    for (let at = 0; at < count; at++) {
      const { scanId, shard } = await held();
      claimed.push(`${scanId} ${shard}`);
    }
    return claimed;
  };
  const states = async (scanId: string) => (await store.shards.ofScan(scanId)).map(({ state }) => state);
  const jobs = async () => {
    const { rows } = await store.execute(
      `select name, state::text, retry_count, retry_limit, heartbeat_seconds from portolan_queue.job order by name`,
      [],
    );
    return rows as { name: string; state: string; retry_count: number; retry_limit: number }[];
  };
  /** As if a claim had had no heartbeat for so long, seconds. */
  const age = (seconds: number) =>
    store.execute(
      `update portolan_queue.job set heartbeat_on = heartbeat_on - $1 * interval '1 second' where state = 'active'`,
      [seconds],
    );
  /** The row says so, too. */
  const silence = () =>
    store.execute('update portolan.shards set lease_until = 1 where state = $1', ['running']);

  it('has a job of pg-boss for each shard, which is its lease', async () => {
    await layOut('a', 2);
    expect(await jobs()).toEqual(
      Array.from({ length: 2 }, () => ({
        name: `shard-jobs.${pool}`,
        state: 'created',
        retry_count: 0,
        retry_limit: maxAttempts - 1,
        heartbeat_seconds: leaseMs / 1000,
      })),
    );
    const shard = await held();
    expect(shard).toMatchObject({ scanId: 'a', shard: 0, of: 2, attempt: 1, leaseMs });
    expect((await jobs()).map(({ state }) => state).toSorted()).toEqual(['active', 'created']);
    expect(await line.finish(shard, '{}')).toBe(true);
    // What is done leaves nothing to read past.
    expect(await jobs()).toHaveLength(1);
    expect(await states('a')).toEqual(['done', 'waiting']);
  });

  it('has few statements for a connection to keep, whatever is laid out, claimed and finished', async () => {
    const rooms = [
      { begun: true, small: true, all: true },
      { begun: false, small: true, all: false },
      { begun: false, small: true, all: true },
    ];
    const claims = async () => {
      for (const room of rooms) {
        const shard = await line.claim('w', [pool], room);
        if (shard) await line.finish(shard, JSON.stringify({ rows: shard.rows, scan: shard.scanId }));
      }
    };
    const kept = async () =>
      (await store.execute('select statement from pg_prepared_statements', [])).rows.length;
    await layOut('a');
    await claims();
    const before = await kept();
    expect(before).toBeGreaterThan(2);
    for (const [at, of] of [1, 2, 5, 9, 1, 3].entries()) {
      await layOut(`b${at}`, of, { priority: at, addresses: at % 2 === 0 ? large : ['10.0.0.1'] });
      await claims();
    }
    expect(await kept()).toBe(before);
  });

  it('gives the highest priority first, of equal ones early shards, and small scans before all', async () => {
    await layOut('a', 2);
    await layOut('b', 2);
    await layOut('urgent', 1, { priority: 9 });
    await layOut('small', 1, { addresses: ['10.0.0.1'], priority: 0 });
    expect(await names(6)).toEqual(['small 0', 'urgent 0', 'a 0', 'b 0', 'a 1', 'b 1']);
    expect(await claim()).toBeNull();
  });

  it('keeps to what a worker has room for', async () => {
    await layOut('a');
    await layOut('small', 1, { addresses: ['10.0.0.1'] });
    const given = await line.claim('w', [pool], { begun: false, small: false, all: true });
    expect(given).toMatchObject({ scanId: 'a', isSmall: false });
    await line.release(given as QueuedShard);
    const room = (begun: boolean, small: boolean) => line.claim('w', [pool], { begun, small, all: false });
    expect(await room(true, false)).toMatchObject({ scanId: 'a', attempt: 2 });
    expect(await room(true, false)).toBeNull();
    expect(await room(false, true)).toMatchObject({ scanId: 'small', isSmall: true });
  });

  it('gives a shard back ahead of others, without counting it', async () => {
    await layOut('a', 2);
    for (let turn = 1; turn <= maxAttempts + 1; turn++) {
      const shard = await held();
      expect(shard).toMatchObject({ scanId: 'a', shard: 0, attempt: turn });
      expect(await line.release(shard)).toBe(true);
      expect(await line.release(shard)).toBe(false);
    }
    expect((await jobs()).map((job) => job.retry_limit)).toEqual([maxAttempts - 1, maxAttempts - 1]);
  });

  it('takes a shard from a worker that gave no heartbeat, and fails it for good after the last attempt', async () => {
    await layOut('a', 2);
    for (let attempt = 1; attempt < maxAttempts; attempt++) {
      const shard = await held();
      expect(shard).toMatchObject({ shard: 0, attempt });
      await silence();
      await line.lapse('a');
      expect(await states('a')).toEqual(['waiting', 'waiting']);
      const writes = [
        line.beat(shard, { appliedCommand: 'run', appliedRate: 0 }),
        line.finish(shard, '{}'),
        line.release(shard),
      ];
      expect(await Promise.all(writes)).toEqual([null, false, false]);
    }
    await held();
    await silence();
    await line.lapse('a');
    expect(await states('a')).toEqual(['failed', 'waiting']);
    expect(await held()).toMatchObject({ shard: 1 });
    expect(await claim()).toBeNull();
  });

  it('counts a shard that was given up as an attempt', async () => {
    await layOut('a');
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      expect(await line.abandon(await held())).toBe(true);
      await line.lapse('a');
    }
    expect(await states('a')).toEqual(['failed']);
  });

  it('leaves a shard that has a heartbeat', async () => {
    await layOut('a');
    const shard = await held();
    await silence();
    expect(await line.beat(shard, { appliedCommand: 'run', appliedRate: 7 })).toMatchObject({
      command: 'run',
    });
    await line.lapse('a');
    expect(await states('a')).toEqual(['running']);
    expect(await line.finish(shard, '{}')).toBe(true);
  });

  it('gives a shard whose lease pg-boss has ended to the next worker, also while no server looks', async () => {
    await layOut('a', 1);
    const lost = await held();
    await age(leaseMs / 1000 + 1);
    const boss = new PgBoss({ connectionString: url, schema: 'portolan_queue', supervise: false });
    await boss.start();
    await boss.supervise(`shard-jobs.${pool}`);
    await boss.stop({ graceful: false });
    expect(await line.beat(lost, { appliedCommand: 'run', appliedRate: 0 })).toBeNull();
    expect(await held()).toMatchObject({ scanId: 'a', attempt: 2 });
    expect(await line.finish(lost, '{}')).toBe(false);
    expect(await states('a')).toEqual(['running']);
  });

  it('fails a shard whose workers die before they have noted it', async () => {
    const name = `shard-jobs.${pool}`;
    await layOut('a', 1);
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const { text, values } = await dispatcher.claiming(name);
      const [{ id, retryCount: retry }] = (await store.execute(text, values)).rows as [
        { id: string; retryCount: number },
      ];
      const job = { line: name, id, retry };
      expect(await dispatcher.fail(store, job)).toBe(attempt < maxAttempts ? 'waits' : 'dead');
    }
    expect(await states('a')).toEqual(['waiting']);
    await line.buryDead();
    expect(await states('a')).toEqual(['failed']);
    expect(await claim()).toBeNull();
  });

  it('gives shards that an earlier version has divided a job, once', async () => {
    await layOut('a', 2);
    await store.execute('update portolan.shards set job_id = null, job_line = null, job_retry = null', []);
    await store.execute('delete from portolan_queue.job', []);
    await line.giveJobs('a');
    await line.giveJobs('a');
    expect(await names(2)).toEqual(['a 0', 'a 1']);
    // Its worker was one of the earlier version.
    await store.execute('update portolan.shards set job_id = null, job_line = null, lease_until = 1', []);
    await line.lapse('a');
    expect(await names(2)).toEqual(['a 0', 'a 1']);
  });

  it('gives waiting shards whose jobs the database has lost new ones, with the queue if that is gone, too', async () => {
    await layOut('a', 3);
    const first = await held();
    expect(await line.giveJobs('a')).toBe(0);
    await store.execute(`delete from portolan_queue.job where state = 'created'`, []);
    expect(await claim()).toBeNull();
    expect(await line.giveJobs('a')).toBe(2);
    expect(await names(2)).toEqual(['a 1', 'a 2']);
    expect(await line.finish(first, '{}')).toBe(true);
    await layOut('b', 2);
    await store.execute('delete from portolan_queue.job', []);
    await store.execute('delete from portolan_queue.queue where name = $1', [`shard-jobs.${pool}`]);
    expect(await line.giveJobs('b')).toBe(2);
    expect(await names(2)).toEqual(['b 0', 'b 1']);
  });

  it('drops the jobs of a canceled scan, whoever claims one meanwhile', async () => {
    await layOut('a', 3);
    const shard = await held();
    await line.command('a', 'cancel');
    // Claimed before the server has ended the shards that wait.
    expect(await claim()).toBeNull();
    await line.endWaiting('a');
    expect(await states('a')).toEqual(['running', 'failed', 'failed']);
    expect(await line.finish(shard, '{}')).toBe(true);
    expect(await jobs()).toEqual([]);
  });

  it('has a shard given back for others, which come before it', async () => {
    await layOut('a', 2);
    const first = await held();
    await layOut('b', 2);
    expect(await store.shards.runningIn(pool)).toEqual([
      { scanId: 'a', tenant: null, priority: 5, places: 1 },
    ]);
    const asked = (before: number) => store.shards.askBack('a', before);
    expect([await asked((await line.now()) - 1000), await asked((await line.now()) + 1000)]).toEqual([
      false,
      true,
    ]);
    const beat = { appliedCommand: 'run' as const, appliedRate: 0 };
    expect(await line.beat(first, beat, false)).toMatchObject({ givesBack: true });
    expect(await line.release(first, 5)).toBe(true);
    expect(await names(4)).toEqual(['b 0', 'a 1', 'b 1', 'a 0']);
    const [again] = await store.shards.ofScan('a');
    expect(again).toMatchObject({ state: 'running', attempt: 2 });
  });

  it('claims each shard once, however many claim at the same time', async () => {
    await layOut('a', 20);
    const claims = await Promise.all(Array.from({ length: 30 }, () => claim()));
    const shards = claims.flatMap((shard) => (shard === null ? [] : [shard.shard]));
    expect(shards.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, shard) => shard));
  });

  describe('a claim that meets another change of its shard', () => {
    /** Claims while a transaction has changed the row, which commits only then. */
    const claimDuring = async (change: (store: Store) => Promise<void>) => {
      await layOut('a', 2);
      const changed = Promise.withResolvers<void>();
      const waits = Promise.withResolvers<void>();
      const other = store.transaction(async (inside) => {
        await change(inside);
        changed.resolve();
        await waits.promise;
      }, 'read committed');
      await changed.promise;
      const claimed = claim();
      await waitsForLock();
      waits.resolve();
      await other;
      return await claimed;
    };
    const waitsForLock = () =>
      vi.waitFor(async () => {
        const { rows } = await store.execute(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          [],
        );
        expect(rows).toHaveLength(1);
      });

    it('follows it', async () => {
      const shard = await claimDuring((inside) => inside.shards.grant('a', 0, 7));
      expect(shard).toMatchObject({ scanId: 'a', shard: 0, attempt: 1 });
      expect(await store.shards.ofScan('a')).toMatchObject([{ state: 'running', rate: 0 }, {}]);
      expect(await line.finish(shard as QueuedShard, '{}')).toBe(true);
    });

    it('drops the job of a shard that was canceled meanwhile', async () => {
      expect(await claimDuring((inside) => inside.shards.command('a', 'cancel'))).toBeNull();
      expect([await jobs(), await states('a')]).toEqual([[], ['waiting', 'waiting']]);
    });

    it('is lost when the shard is failed and finished at the same time', async () => {
      await layOut('a');
      const shard = await held();
      const failed = Promise.withResolvers<void>();
      const waits = Promise.withResolvers<void>();
      const other = store.transaction(async (inside) => {
        await dispatcher.fail(inside, shard.job);
        failed.resolve();
        await waits.promise;
      }, 'read committed');
      await failed.promise;
      const finished = line.finish(shard, '{}');
      await waitsForLock();
      waits.resolve();
      await other;
      expect(await finished).toBe(false);
      expect((await jobs()).map(({ state }) => state)).toEqual(['retry']);
      expect(await states('a')).toEqual(['running']);
    });
  });

  describe('pg-boss, as docs/decisions/0006 says,', () => {
    let boss: PgBoss;
    beforeEach(async () => {
      boss = new PgBoss({ connectionString: url, schema: 'portolan_queue', supervise: false });
      await boss.start();
      await boss.createQueue('bare', { heartbeatSeconds: 10, retryLimit: 1 });
    });
    afterEach(() => boss.stop({ graceful: false }));

    it('has no lease shorter than 10 s, and none longer than a day', async () => {
      await expect(boss.send('bare', {}, { heartbeatSeconds: 9 })).rejects.toThrow('heartbeatSeconds');
      await expect(boss.send('bare', {}, { expireInSeconds: 25 * 3600 })).rejects.toThrow('24 hours');
    });

    it('gives nothing back without counting it', async () => {
      const id = randomUUID();
      await boss.insert('bare', [{ id }]);
      for (const state of ['retry', 'failed']) {
        await boss.fetch('bare');
        await boss.fail('bare', id);
        expect((await boss.findJobs('bare', { id }))[0]?.state).toBe(state);
      }
    });

    it('claims by limits of groups, not by their shares', async () => {
      await boss.insert(
        'bare',
        ['a', 'a', 'a', 'b'].map((id) => ({ data: { id }, group: { id } })),
      );
      const fetched = async () => (await boss.fetch<{ id: string }>('bare', { groupConcurrency: 2 }))[0];
      // With equal shares it would be b after a.
      expect([(await fetched())?.data.id, (await fetched())?.data.id]).toEqual(['a', 'a']);
    });
  });
});

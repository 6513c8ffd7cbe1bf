import { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { openStore, type Store } from '../store/open.ts';
import type { PendingNotification } from '../store/outbox.ts';
import { Dispatcher } from './dispatcher.ts';
import { NotificationJobs } from './notification-jobs.ts';
import { type NotificationQueue, OwnNotifications } from './notification-queue.ts';

const hourMs = 3_600_000;

for (const engine of storeEngines()) {
  const isShared = engine.name === 'PostgreSQL';

  describe.skipIf(engine.skip !== null)(`notifications of servers in ${engine.name}`, () => {
    let store: Store;
    let queue: NotificationQueue;
    let open: { close(): unknown }[];
    /** Due times in the order of their notices, epoch milliseconds. */
    let due: number;
    /** Of the servers on the database, milliseconds. */
    let now = 0;

    beforeAll(() => engine.begin());
    afterAll(() => engine.end());
    beforeEach(async () => {
      open = [];
      due = Date.now() - hourMs;
      store = await engine.empty();
      queue = isShared ? (await server()).queue : new OwnNotifications(store);
      await queue.open();
    });
    afterEach(async () => {
      vi.useRealTimers();
      queue.close();
      if (isShared) await store.execute('delete from portolan_queue.job', []);
      for (const one of open.reverse()) await one.close();
    });

    /** One of several servers on the database. */
    const server = async (id?: string) => {
      const dispatcher = await Dispatcher.start(engine.place(), () => undefined);
      open.push(dispatcher);
      const own = id === undefined ? store : await openStore(engine.place(), id);
      if (own !== store) open.push(own);
      const jobs = new NotificationJobs(own, dispatcher, () => now);
      open.push(jobs);
      await jobs.open();
      return { own, queue: jobs };
    };
    const notice = async (channel: string, of: Store = store) => {
      const message = { event: 'alert', payload: {}, channels: [channel], owner: of.executor, tenant: null };
      await of.outbox.addNotice(message, due++);
    };
    const channels = (notification: readonly PendingNotification[]) =>
      notification.map(({ channel }) => channel);
    const endAttempt = async (notification: PendingNotification, afterMs: number | null, by = queue) => {
      const next = afterMs === null ? null : { attempts: notification.attempts + 1, afterMs };
      return await store.transaction((inside) => by.endAttempt(inside, notification, next));
    };
    const only = async (by = queue): Promise<PendingNotification> => {
      const [notification, ...others] = await by.claim(10, 2);
      if (notification === undefined || others.length > 0)
        throw new Error(`claimed ${others.length} more than one`);
      return notification;
    };
    /** Claims until there are so many, or none is left. */
    const claimUpTo = async (most: number, mostEach: number) => {
      const claimed: PendingNotification[] = [];
      for (let last = 1; last > 0 && claimed.length < most; ) {
        const next = await queue.claim(most - claimed.length, mostEach);
        claimed.push(...next);
        last = next.length;
      }
      return channels(claimed);
    };
    const anHourLater = async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hourMs });
      if (!isShared) return;
      await store.execute(`update portolan_queue.job set start_after = start_after - interval '1 hour'`, []);
    };

    it('are claimed the oldest first, no more at a time than asked for, and of a receiver', async () => {
      for (const channel of ['webhook://a', 'webhook://a', 'webhook://a', 'slack://x', 'email://b@c.example'])
        await notice(channel);
      expect(await claimUpTo(1, 2)).toEqual(['webhook://a']);
      expect(await claimUpTo(2, 2)).toEqual(['webhook://a', 'slack://x']);
      expect(await claimUpTo(10, 1)).toEqual(['email://b@c.example']);
      expect(await claimUpTo(10, 2)).toEqual([]);
      expect(await claimUpTo(10, 3)).toEqual(['webhook://a']);
    });

    it('of many for one receiver do not keep those for others waiting', async () => {
      for (let at = 0; at < 150; at++) await notice('webhook://a');
      await notice('webhook://b');
      expect(await claimUpTo(10, 2)).toEqual(['webhook://a', 'webhook://a', 'webhook://b']);
    });

    it('are gone after their last attempt, or due again later, with their attempts', async () => {
      await notice('webhook://a');
      const first = await only();
      expect(await endAttempt(first, hourMs)).toBe(true);
      await queue.release(first, true);
      expect(await queue.claim(10, 2)).toEqual([]);
      await anHourLater();
      const again = await only();
      expect(again).toMatchObject({ id: first.id, attempts: 1 });
      expect(await endAttempt(again, null)).toBe(true);
      await queue.release(again, true);
      expect(await queue.claim(10, 2)).toEqual([]);
      expect(await store.outbox.count()).toBe(0);
    });

    it('are due at once when they are given back, and stay claimed until then', async () => {
      await notice('webhook://a');
      const first = await only();
      expect(await queue.claim(10, 2)).toEqual([]);
      await queue.release(first, false);
      expect(await only()).toEqual(first);
    });

    it('stay when the transaction that ends their attempt fails', async () => {
      await notice('webhook://a');
      const notification = await only();
      const broken = store.transaction(async (inside) => {
        await queue.endAttempt(inside, notification, null);
        throw new Error('disk full');
      });
      await expect(broken).rejects.toThrow('disk full');
      expect(await store.outbox.count()).toBe(1);
      expect(await endAttempt(notification, null)).toBe(true);
    });

    if (!isShared) return;
    describe('that share the database', () => {
      it('are sent by any of them, and the limit per receiver holds for all together', async () => {
        const other = await server('elsewhere');
        for (let at = 0; at < 3; at++) await notice('webhook://a');
        await notice('webhook://b', other.own);
        expect(channels(await queue.claim(1, 2))).toEqual(['webhook://a']);
        expect(channels(await other.queue.claim(10, 2)).toSorted()).toEqual(['webhook://a', 'webhook://b']);
        expect(await queue.claim(10, 2)).toEqual([]);
      });

      it('are no more per receiver when several servers claim at the same time', async () => {
        const others = [await server('b'), await server('c'), await server('d')];
        const queues = [queue, ...others.map((other) => other.queue)];
        for (let round = 0; round < 50; round++) {
          await notice('slack://x');
          for (let at = 0; at < 8; at++) await notice('webhook://a');
          // From here on all of them are jobs.
          expect(channels(await queue.claim(1, 2))).toEqual(['slack://x']);
          const claimed = (await Promise.all(queues.map((one) => one.claim(8, 2)))).flat();
          expect(claimed).toHaveLength(2);
          await store.execute('delete from portolan.outbox', []);
          await store.execute('delete from portolan_queue.job', []);
        }
      });

      /** The heartbeats of claims are too old. */
      const takeClaims = async () => {
        await store.execute(
          `update portolan_queue.job set heartbeat_on = heartbeat_on - interval '16 seconds' where state = 'active'`,
          [],
        );
        // It looks no more often than each few seconds.
        await store.execute('update portolan_queue.queue set monitor_claim_on = null, monitor_on = null', []);
        const boss = new PgBoss({
          connectionString: engine.place(),
          schema: 'portolan_queue',
          supervise: false,
        });
        await boss.start();
        await boss.supervise('notifications');
        await boss.stop({ graceful: false });
      };

      it('are not sent a second time by a server that stood still and has them again', async () => {
        await notice('webhook://a');
        const notification = await only();
        await takeClaims();
        expect(await queue.claim(10, 2)).toEqual([]);
        expect(await endAttempt(notification, null)).toBe(true);
      });

      it('go to another one when theirs died, and what that one still does changes nothing', async () => {
        const other = await server('elsewhere');
        await notice('webhook://a');
        const before = await only();
        await takeClaims();
        const notification = await only(other.queue);
        expect(notification).toEqual(before);
        expect(await endAttempt(before, null)).toBe(false);
        await queue.release(before, false);
        expect(await store.outbox.count()).toBe(1);
        expect(await endAttempt(notification, null, other.queue)).toBe(true);
      });

      it('have no job left when their row is gone, and get one when only that is missing', async () => {
        const other = await server('elsewhere');
        await notice('webhook://a');
        await notice('webhook://b');
        const both = await queue.claim(10, 2);
        const [first, second] = both.toSorted((a, b) => (a.channel < b.channel ? -1 : 1));
        if (!first || !second) throw new Error('two were claimed');
        await store.outbox.delete(first.id);
        for (const notification of [first, second]) await queue.release(notification, false);
        expect(channels(await other.queue.claim(10, 2))).toEqual(['webhook://b']);
        expect((await store.execute('select id from portolan_queue.job', [])).rows).toEqual([
          { id: second.id },
        ]);
        await store.execute('delete from portolan_queue.job', []);
        expect(await queue.claim(10, 2)).toEqual([]);
        await server('third');
        expect(channels(await queue.claim(10, 2))).toEqual(['webhook://b']);
      });

      it('get the job that the database has lost within a minute', async () => {
        await notice('webhook://a');
        await queue.release(await only(), false);
        await store.execute('delete from portolan_queue.job', []);
        expect(await queue.claim(10, 2)).toEqual([]);
        now += 60_000;
        expect(channels(await queue.claim(10, 2))).toEqual(['webhook://a']);
      });
    });
  });
}

import { receiverOf } from '../domain/channel.ts';
import { anyServer } from '../domain/executor.ts';
import type { Store } from '../store/open.ts';
import type { PendingNotification } from '../store/outbox.ts';
import type { ClaimedJob } from '../store/shard-jobs.ts';
import type { Dispatcher, NewJob } from './dispatcher.ts';
import { maxDue, type NextAttempt, type NotificationQueue, updateOutbox } from './notification-queue.ts';

const line = 'notifications';
/** Another server may send a notification this long after the last heartbeat of one that died, milliseconds. */
const leaseMs = 15_000;
const renewMs = leaseMs / 5;
/** Notifications without jobs are looked for after this long again, milliseconds. */
const lookMs = 60_000;
/** The row of a notification counts its attempts; servers that died while sending it do not count. */
const retries = 10_000;

/**
 * Those of several servers: each is a job, of the same id as its row, and whichever server has room sends it. The limits per
 * receiver hold for all servers together. Rows and jobs change in one transaction.
 */
export class NotificationJobs implements NotificationQueue {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #claims = new Map<string, ClaimedJob>();
  readonly #clock: () => number;
  #renewals: NodeJS.Timeout | null = null;
  #lookFrom = 0;

  /**
   * @param store of all tenants
   * @param clock milliseconds
   */
  constructor(store: Store, dispatcher: Dispatcher, clock: () => number = () => performance.now()) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
  }

  async open(): Promise<void> {
    await this.#dispatcher.open(line);
    await this.#replaceLost();
    this.#renewals ??= setInterval(() => void this.#renew(), renewMs);
  }

  /** A database that was restored, or lost its last transactions in a crash, may have rows without jobs; those that are there stay. */
  async #replaceLost(): Promise<void> {
    if (this.#clock() < this.#lookFrom) return;
    this.#lookFrom = this.#clock() + lookMs;
    const offered = await this.#store.outbox.due(anyServer, Number.MAX_SAFE_INTEGER, maxDue);
    await this.#send(
      this.#store,
      offered.map((notification) => jobOf(notification)),
    );
  }

  async claim(most: number, mostEach: number): Promise<PendingNotification[]> {
    await this.#offerOwn();
    await this.#replaceLost();
    const jobs = await this.#dispatcher.claim(this.#store, line, most, mostEach);
    if (jobs.length === 0) return [];
    const pending = await this.#store.outbox.ofIds(jobs.map(({ id }) => id));
    const rows = new Map(pending.map((notification) => [notification.id, notification]));
    return (await Promise.all(jobs.map((job) => this.#take(job, rows.get(job.id))))).flat();
  }

  async #take(
    job: ClaimedJob,
    notification: PendingNotification | undefined,
  ): Promise<PendingNotification[]> {
    if (notification === undefined) {
      // Its scan was deleted.
      await this.#dispatcher.complete(this.#store, job);
      return [];
    }
    // This server stood still and lost it: what it has begun ends the new claim.
    const isUnderWay = this.#claims.has(job.id);
    this.#claims.set(job.id, job);
    return isUnderWay ? [] : [notification];
  }

  /** What this server has stored can be sent by any. */
  async #offerOwn(): Promise<void> {
    const { outbox, executor } = this.#store;
    const own = await outbox.due(executor, Date.now(), maxDue);
    if (own.length === 0) return;
    await this.#store.transaction(async (inside) => {
      const ids = own.map(({ id }) => id);
      const offered = new Set(await inside.outbox.handOver(executor, anyServer, ids));
      await this.#send(
        inside,
        own.filter(({ id }) => offered.has(id)).map((notification) => jobOf(notification)),
      );
    }, 'read committed');
  }

  async endAttempt(
    inside: Store,
    notification: PendingNotification,
    next: NextAttempt | null,
  ): Promise<boolean> {
    const job = this.#claims.get(notification.id);
    if (job === undefined || !(await this.#dispatcher.complete(inside, job))) return false;
    await updateOutbox(inside, notification, next);
    if (next !== null) await this.#send(inside, [jobOf(notification, next.afterMs)]);
    return true;
  }

  async release({ id }: PendingNotification, isEnded: boolean): Promise<void> {
    const job = this.#claims.get(id);
    this.#claims.delete(id);
    if (job !== undefined && !isEnded) await this.#dispatcher.fail(this.#store, job);
  }

  close(): void {
    if (this.#renewals) clearInterval(this.#renewals);
  }

  async #send(inside: Store, jobs: readonly NewJob[]): Promise<void> {
    if (jobs.length > 0) await this.#dispatcher.send(inside, line, jobs, { retries, leaseMs });
  }

  /** Without the database nobody else can claim them. */
  async #renew(): Promise<void> {
    const claims = [...this.#claims.values()];
    await Promise.allSettled(claims.map((claim) => this.#dispatcher.renew(this.#store, claim)));
  }
}

function jobOf({ id, channel }: PendingNotification, afterMs = 0): NewJob {
  return { id, data: {}, priority: 0, group: receiverOf(channel), afterMs };
}

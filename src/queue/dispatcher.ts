import { type Clock, type Db, PgBoss, systemClock } from 'pg-boss';
import type { Store } from '../store/open.ts';

/** Schema of the pg-boss tables. */
const schema = 'portolan_queue';
/** Connections per process in addition to those of the store. */
const maxConnections = 2;
/** Query timeout, milliseconds. */
const answerMs = 20_000;
/** A message that was fetched but not completed is redelivered after this time, seconds: its consumer is gone. */
const expireSeconds = 30;
/** Interval of the check for such messages, seconds. */
const superviseSeconds = 10;
/** Redeliveries of a message whose consumer died. */
const mostReturns = 1000;
const slipsAtOnce = 100;
/** Retention of unfetched and completed messages, seconds. */
const keepSeconds = 30 * 24 * 3600;
const sweepSeconds = 3600;
/**
 * Background failures are reported at most once per this interval, milliseconds: an unreachable database fails often.
 */
const tellMs = 60_000;
/** Characters that are not valid in pg-boss queue names. */
const strange = /[^A-Za-z0-9_.-]/g;

/** Messages have lower priorities. */
const highestPriority = 2 ** 31 - 1;

/**
 * Starts at the wall clock and never jumps. After a jump back by weeks, pg-boss would set a timer longer than Node.js
 * supports, which fires immediately: it would spin until the wall clock has caught up.
 */
const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** A message fetched from a queue. */
export interface ShardMessage<T> {
  id: string;
  data: T;
}

/**
 * Distributes messages over PostgreSQL by pg-boss: each to one consumer, across any number of hosts. A message only
 * says that there is work; the tables of the store say what it is and who owns it.
 */
export class Dispatcher {
  readonly #boss: PgBoss;
  /** Existing queues. */
  readonly #lines = new Set<string>();
  #closed = false;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /**
   * @param url of the database
   * @param onError called for background failures
   */
  static async start(url: string, onError: (error: unknown) => void): Promise<Dispatcher> {
    const connection = {
      connectionString: url,
      max: maxConnections,
      application_name: 'portolan queue',
      // Gives up a connection that was cut without notice.
      query_timeout: answerMs,
    };
    const boss = new PgBoss({
      ...connection,
      clock: steadyClock,
      schema,
      schedule: false,
      superviseIntervalSeconds: superviseSeconds,
    });
    let toldAt = Number.NEGATIVE_INFINITY;
    const dispatcher = new Dispatcher(boss);
    boss.on('error', (error) => {
      // The pool ends before its connections do: the database may go away in between.
      if (dispatcher.#closed || performance.now() - toldAt < tellMs) return;
      toldAt = performance.now();
      onError(error);
    });
    await boss.start();
    return dispatcher;
  }

  /** Creates a queue if missing. Call it before a transaction that sends to it. */
  async open(line: string): Promise<void> {
    const name = nameOf(line);
    if (this.#lines.has(name)) return;
    await this.#boss.createQueue(name, {
      expireInSeconds: expireSeconds,
      retentionSeconds: keepSeconds,
      deleteAfterSeconds: sweepSeconds,
      retryLimit: mostReturns,
    });
    // pg-boss reads queue metadata at first use, on its own connection: not possible within a transaction.
    await this.#boss.fetch(name, { minPriority: highestPriority });
    this.#lines.add(name);
  }

  /** Sends messages to a queue as part of a transaction of the store: they exist once it is committed. */
  async send(
    store: Store,
    line: string,
    slips: readonly { data: object; priority?: number }[],
  ): Promise<void> {
    const db: Db = { executeSql: (text, values) => store.execute(text, values ?? []) };
    await this.#boss.insert(
      nameOf(line),
      slips.map(({ data, priority = 0 }) => ({ data, priority })),
      { db },
    );
  }

  /** Fetches and discards the oldest messages, up to a hundred. @returns their number */
  async takeAll(line: string): Promise<number> {
    const name = nameOf(line);
    const slips = await this.#boss.fetch(name, { batchSize: slipsAtOnce });
    if (slips.length > 0)
      await this.#boss.deleteJob(
        name,
        slips.map(({ id }) => id),
      );
    return slips.length;
  }

  /** Fetches the message with the highest priority, oldest first. */
  async take<T extends object>(line: string): Promise<ShardMessage<T> | null> {
    await this.open(line);
    const [job] = await this.#boss.fetch<T>(nameOf(line), { batchSize: 1 });
    return job ? { id: job.id, data: job.data } : null;
  }

  /**
   * The work of a message is done, or tracked elsewhere. Deletes the message: keeping it would slow down later
   * fetches.
   */
  async done(line: string, { id }: ShardMessage<unknown>): Promise<void> {
    await this.#boss.deleteJob(nameOf(line), id);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: true });
    this.#closed = true;
  }
}

function nameOf(line: string): string {
  return line.replace(strange, '_');
}

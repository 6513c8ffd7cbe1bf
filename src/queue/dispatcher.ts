import { type Clock, type Db, PgBoss, systemClock } from 'pg-boss';
import type { Store } from '../store/open.ts';

/** Where pg-boss keeps its tables. */
const schema = 'portolan_queue';
/** Connections of one process beside those of the store. */
const maxConnections = 2;
/** An answer of the database is waited for this long, milliseconds. */
const answerMs = 20_000;
/** A slip that was taken and not marked as done comes back after this time, seconds: whoever took it is gone. */
const expireSeconds = 30;
/** Slips are looked through for such ones this often, seconds. */
const superviseSeconds = 10;
const mostReturns = 1000;
const slipsAtOnce = 100;
/** Slips that nobody took or that are done are swept after this time, seconds. */
const keepSeconds = 30 * 24 * 3600;
const sweepSeconds = 3600;
/** Of failures in the background one is told within this time, milliseconds: a database that is away fails often. */
const tellMs = 60_000;
/** A name of a line that pg-boss accepts. */
const strange = /[^A-Za-z0-9_.-]/g;

/** Slips have lower ones. */
const highestPriority = 2 ** 31 - 1;

/**
 * Starts from the wall clock and never leaps. After a leap back by weeks, pg-boss would wait for longer than a timer of
 * Node.js can, which fires at once then: it would turn in circles until the wall clock has caught up.
 */
const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** A slip that was taken from a line. */
export interface ShardMessage<T> {
  id: string;
  data: T;
}

/**
 * Hands out slips of paper over PostgreSQL by pg-boss: each to one taker, over any number of hosts. A slip says only
 * that there is something to do; what it is, and whose it is, stands in the tables of the store.
 */
export class Dispatcher {
  readonly #boss: PgBoss;
  /** Lines that exist. */
  readonly #lines = new Set<string>();

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /**
   * @param place URL of the database, or a connection that the caller keeps
   * @param onError told about failures in the background; nobody waits for them
   */
  static async start(
    place: string | { db: Db; backend: 'pglite' },
    onError: (error: unknown) => void,
  ): Promise<Dispatcher> {
    const where =
      typeof place === 'string'
        ? {
            connectionString: place,
            max: maxConnections,
            application_name: 'portolan queue',
            // A connection that was cut without a word is given up.
            query_timeout: answerMs,
          }
        : place;
    const boss = new PgBoss({
      ...where,
      clock: steadyClock,
      schema,
      schedule: false,
      superviseIntervalSeconds: superviseSeconds,
    });
    let toldAt = Number.NEGATIVE_INFINITY;
    boss.on('error', (error) => {
      if (performance.now() - toldAt < tellMs) return;
      toldAt = performance.now();
      onError(error);
    });
    await boss.start();
    return new Dispatcher(boss);
  }

  /** Makes a line that is not there. To be called before a transaction in which something is put in it. */
  async open(line: string): Promise<void> {
    const name = nameOf(line);
    if (this.#lines.has(name)) return;
    await this.#boss.createQueue(name, {
      expireInSeconds: expireSeconds,
      retentionSeconds: keepSeconds,
      deleteAfterSeconds: sweepSeconds,
      retryLimit: mostReturns,
    });
    // What pg-boss knows of a queue it reads at the first use, on a connection of its own: not within a transaction.
    await this.#boss.fetch(name, { minPriority: highestPriority });
    this.#lines.add(name);
  }

  /**
   * Puts slips in a line, as part of a transaction of the store, so that they are there when it is committed, and else
   * never were.
   */
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

  /** Takes the oldest slips, a hundred at the most, and throws them away. @returns how many there were */
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

  /** Takes the slip with the highest priority, of those the oldest. */
  async take<T extends object>(line: string): Promise<ShardMessage<T> | null> {
    await this.open(line);
    const [job] = await this.#boss.fetch<T>(nameOf(line), { batchSize: 1 });
    return job ? { id: job.id, data: job.data } : null;
  }

  /**
   * What a slip was about is done, or is known elsewhere. It is thrown away: taking the next one would have to look
   * through those that are kept.
   */
  async done(line: string, { id }: ShardMessage<unknown>): Promise<void> {
    await this.#boss.deleteJob(nameOf(line), id);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: true });
  }
}

function nameOf(line: string): string {
  return line.replace(strange, '_');
}

import {
  type Clock,
  type CommandResponse,
  type Db,
  type JobWithMetadata,
  PgBoss,
  systemClock,
} from 'pg-boss';
import type { Store } from '../store/open.ts';
import { translateError } from '../store/postgres/postgres-dialect.ts';
import type { ClaimedJob, JobFetch, JobStatement } from '../store/shard-jobs.ts';

/** Schema of the pg-boss tables. */
const schema = 'portolan_queue';
/** Connections per process in addition to those of the store. */
const maxConnections = 2;
/** Query timeout, milliseconds. */
const answerMs = 20_000;
/** Interval of maintenance, milliseconds: claims of dead workers, jobs to delete. */
const superviseMs = 10_000;
/** pg-boss allows no shorter ones, seconds. */
const shortestHeartbeatSeconds = 10;
/** Nor a longer claim than a day, however many heartbeats it has; seconds. */
export const longestClaimSeconds = 24 * 3600;
/** Retention of unclaimed jobs, seconds. */
const keepSeconds = 30 * 24 * 3600;
/** Retention of jobs that failed, seconds. */
const sweepSeconds = 3600;
/** Background failures are reported at most once per this interval, milliseconds: an unreachable database fails often. */
const reportMs = 60_000;
/** Characters that are not valid in pg-boss queue names. */
const strange = /[^A-Za-z0-9_.-]/g;
/** Jobs that were claimed before: below it are all others. */
const begunPriority = 2 ** 30;
/** Jobs have lower priorities. */
const highestPriority = 2 ** 31 - 1;
const lowestPriority = -(2 ** 31);
const deadAtOnce = 100;
/** Advisory lock of claims with a limit of groups; an arbitrary number. */
const groupLock = 7_061_993;

/**
 * Starts at the wall clock and never jumps. After a jump back by weeks, pg-boss would set a timer longer than Node.js
 * supports, which fires immediately: it would spin until the wall clock has caught up.
 */
const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

export interface NewJob {
  id: string;
  data: object;
  /** Between -2^30 and 2^30 - 1. */
  priority: number;
  /** Jobs of a group are limited together. */
  group?: string;
  /** Nobody claims it earlier, milliseconds from now. */
  afterMs?: number;
}

export interface NewJobOptions {
  /** Of a job whose worker dies or fails it. */
  retries: number;
  /** Time without a heartbeat after which its worker counts as dead, at least 10 s, milliseconds. */
  leaseMs: number;
}

/** Which jobs of a queue: those that were claimed before, others, or both. */
export type JobBand = 'begun' | 'new' | 'any';

/**
 * Jobs that workers on any number of hosts claim from queues in PostgreSQL, by pg-boss. A claim lasts until its worker
 * completes or fails it, or gives no heartbeat; then the job waits again, ahead of all others, or is a dead letter. Calls with
 * a store are part of its transaction.
 */
export class Dispatcher {
  readonly #boss: PgBoss;
  /** Existing queues. */
  readonly #lines = new Set<string>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  /** When maintenance last went well, performance.now(). */
  #supervisedAt = Number.NEGATIVE_INFINITY;
  /** Until then no claim is taken away, performance.now(): workers could not reach the database either. */
  #sparedUntil = 0;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /**
   * @param url of the database
   * @param onError called for background failures
   * @param supervises whether it takes jobs from dead workers and does what else maintains the queues
   * @throws PortolanError `unavailable` while the database cannot be reached
   */
  static async start(
    url: string,
    onError: (error: unknown) => void,
    supervises = false,
  ): Promise<Dispatcher> {
    const connection = {
      connectionString: url,
      max: maxConnections,
      application_name: 'portolan queue',
      // Gives up a connection that was cut without notice.
      query_timeout: answerMs,
    };
    const boss = new PgBoss({ ...connection, clock: steadyClock, schema, schedule: false, supervise: false });
    let reportedAt = Number.NEGATIVE_INFINITY;
    const dispatcher = new Dispatcher(boss);
    const report = (error: unknown) => {
      // The pool ends before its connections do: the database may go away in between.
      if (dispatcher.#closed || performance.now() - reportedAt < reportMs) return;
      reportedAt = performance.now();
      onError(error);
    };
    boss.on('error', report);
    try {
      await boss.start();
    } catch (error) {
      await boss.stop({ graceful: false, close: true }).catch(() => undefined);
      throw translateError(error);
    }
    if (supervises)
      dispatcher.#timer = setInterval(() => void dispatcher.#supervise().catch(report), superviseMs);
    return dispatcher;
  }

  /**
   * Creates a queue if missing. Call it before a transaction that uses it.
   * @param dead queue of its dead letters
   */
  async open(line: string, dead?: string): Promise<void> {
    const name = nameOf(line);
    if (this.#lines.has(name)) return;
    if (dead !== undefined) await this.open(dead);
    await this.#boss.createQueue(name, {
      expireInSeconds: longestClaimSeconds,
      retentionSeconds: keepSeconds,
      deleteAfterSeconds: sweepSeconds,
      ...(dead === undefined ? {} : { deadLetter: nameOf(dead) }),
    });
    // pg-boss reads queue metadata at first use, on its own connection: not possible within a transaction.
    await this.#boss.fetch(name, { minPriority: highestPriority });
    this.#lines.add(name);
  }

  /**
   * Claims the job of a queue that never has more than one; creates both if missing.
   * @param leaseMs time without a heartbeat after which its host counts as dead, at least 10 s, milliseconds
   * @returns null while another host has it
   */
  async claimOnly(line: string, leaseMs: number): Promise<ClaimedJob | null> {
    const name = nameOf(line);
    if (!this.#lines.has(name)) {
      await this.#boss.createQueue(name, {
        policy: 'exclusive',
        retryLimit: 0,
        expireInSeconds: longestClaimSeconds,
        deleteAfterSeconds: sweepSeconds,
      });
      this.#lines.add(name);
    }
    // Whoever sent it may have died before the claim, so it is there for anybody.
    await this.#boss.send(name, {}, { heartbeatSeconds: heartbeatSecondsOf(leaseMs) });
    const [job] = await this.#boss.fetch(name);
    return job ? { line, id: job.id, retry: job.retryCount } : null;
  }

  /**
   * Of jobs of a queue those that are not there: a database that was restored, or lost its last transactions in a crash. The
   * queue may be gone with them, and is created anew at its next use.
   */
  async gone(store: Store, line: string, ids: readonly string[]): Promise<Set<string>> {
    const name = nameOf(line);
    const { rows } = await store.execute(
      `select wanted.id::text as id from unnest($2::uuid[]) as wanted(id)
        where not exists (select 1 from ${schema}.job where job.name = $1 and job.id = wanted.id)`,
      [name, ids],
    );
    if (rows.length > 0) this.#lines.delete(name);
    return new Set((rows as { id: string }[]).map(({ id }) => id));
  }

  async send(store: Store, line: string, jobs: readonly NewJob[], options: NewJobOptions): Promise<void> {
    const { text, values } = await this.sending(line, jobs, options);
    await store.execute(text, values);
  }

  /** The statement that sends jobs. */
  async sending(
    line: string,
    jobs: readonly NewJob[],
    { retries, leaseMs }: NewJobOptions,
  ): Promise<JobStatement> {
    const heartbeatSeconds = heartbeatSecondsOf(leaseMs);
    const inserted = jobs.map(({ group, afterMs = 0, ...job }) => ({
      ...job,
      ...(group !== undefined && { group: { id: group } }),
      ...(afterMs > 0 && { startAfter: `${afterMs} milliseconds` }),
      retryLimit: retries,
      heartbeatSeconds,
    }));
    return await statementOf((db) => this.#boss.insert(nameOf(line), inserted, db));
  }

  /** Claims jobs that are due. @param mostOfGroup maximum number of claimed ones of a group, on all hosts */
  async claim(store: Store, line: string, most: number, mostOfGroup: number): Promise<ClaimedJob[]> {
    const limits = { batchSize: most, groupConcurrency: mostOfGroup };
    const jobs = await store.transaction(async (inside) => {
      // pg-boss sees no claims of a group that are being made: two hosts at once would exceed its limit.
      await inside.execute('select pg_advisory_xact_lock($1::bigint)', [groupLock]);
      return await this.#boss.fetch(nameOf(line), { ...limits, ...within(inside) });
    }, 'read committed');
    return jobs.map(({ id, retryCount }) => ({ line, id, retry: retryCount }));
  }

  /** The statement that claims the job with the highest priority, of equal ones the oldest. */
  async claiming(line: string, band: JobBand = 'any'): Promise<JobFetch> {
    const minPriority = band === 'begun' ? begunPriority : lowestPriority;
    const priorities = { minPriority, ...(band === 'new' && { maxPriority: begunPriority - 1 }) };
    const fetch = await statementOf((db) => this.#boss.fetch(nameOf(line), { ...priorities, ...db }));
    return { ...fetch, minPriority };
  }

  /** Heartbeat of a claim. @returns whether it still holds */
  async renew(store: Store, { line, ...claim }: ClaimedJob): Promise<boolean> {
    return isDone(await this.#boss.touch(nameOf(line), attemptOf(claim), within(store)));
  }

  /** Ends a job that is done, without a trace: rows that are kept slow down later claims. @returns whether the claim still held */
  async complete(store: Store, { line, ...claim }: ClaimedJob): Promise<boolean> {
    return isDone(await this.#boss.deleteJob(nameOf(line), attemptOf(claim), within(store)));
  }

  /**
   * The statement that does as `complete`, and returns whether the claim still held. That of pg-boss counts its rows: it cannot be
   * a part of another one.
   */
  completing({ line, id, retry }: ClaimedJob): JobStatement {
    const text = `delete from ${schema}.job
      where name = $1 and id = $2::uuid and state = 'active' and retry_count = $3 returning id`;
    return { text, values: [nameOf(line), id, retry] };
  }

  /**
   * Ends a claim that failed, unless it is over.
   * @returns whether the job is claimed by somebody else, waits for another claim, or has none left
   */
  async fail(store: Store, { line, ...claim }: ClaimedJob): Promise<'claimed' | 'waits' | 'dead'> {
    const name = nameOf(line);
    await this.#boss.fail(name, attemptOf(claim), null, within(store));
    const job = await this.#job(store, line, claim.id);
    if (job?.state === 'active') return 'claimed';
    if (job?.state !== 'retry') return 'dead';
    await this.#boss.update(name, undefined, { id: claim.id, priority: begunPriority, ...within(store) });
    return 'waits';
  }

  /**
   * Gives back a job for somebody else to claim; does not count as a retry. pg-boss knows no such thing, so there is another
   * job afterwards.
   * @param priority as of others; by default ahead of them
   * @returns its id; null if the claim was over
   */
  async giveBack(
    store: Store,
    claim: ClaimedJob,
    id: string,
    priority = begunPriority,
  ): Promise<string | null> {
    const job = await this.#job(store, claim.line, claim.id);
    if (job === null || !(await this.complete(store, claim))) return null;
    const { data, retryLimit, retryCount, heartbeatSeconds } = job;
    const again = {
      id,
      data,
      priority,
      retryLimit: retryLimit - retryCount,
      ...(heartbeatSeconds !== null && { heartbeatSeconds }),
    };
    await this.#boss.insert(nameOf(claim.line), [again], within(store));
    return id;
  }

  /** Deletes jobs that nobody shall claim. */
  async drop(store: Store, line: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#boss.deleteJob(nameOf(line), [...ids], within(store));
  }

  /** Takes dead letters out of their queue, up to a hundred. */
  async takeDead<T extends object>(store: Store, line: string): Promise<T[]> {
    const name = nameOf(line);
    const jobs = await this.#boss.fetch<T>(name, { batchSize: deadAtOnce, ...within(store) });
    if (jobs.length > 0)
      await this.#boss.deleteJob(
        name,
        jobs.map(({ id }) => id),
        within(store),
      );
    return jobs.map(({ data }) => data);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#boss.stop({ graceful: false, close: true });
    this.#closed = true;
  }

  async #job(store: Store, line: string, id: string): Promise<JobWithMetadata | null> {
    const [job] = await this.#boss.findJobs<object>(nameOf(line), { id, ...within(store) });
    return job ?? null;
  }

  /**
   * Takes jobs from workers without a heartbeat. Not before everybody had the time for one: after an outage of the
   * database, or when this process stood still, all look dead.
   */
  async #supervise(): Promise<void> {
    const now = performance.now();
    if (now - this.#supervisedAt > 2 * superviseMs) this.#sparedUntil = now + 2 * superviseMs;
    if (now >= this.#sparedUntil) await this.#boss.supervise();
    else await this.#boss.schemaVersion();
    this.#supervisedAt = performance.now();
  }
}

/** The statement of a call of pg-boss, which does not run. */
async function statementOf(call: (options: { db: Db }) => Promise<unknown>): Promise<JobStatement> {
  const statements: JobStatement[] = [];
  const executeSql: Db['executeSql'] = async (text, values = []) => {
    statements.push({ text, values });
    return { rows: [] };
  };
  await call({ db: { executeSql } });
  const [statement] = statements;
  if (statement === undefined || statements.length > 1) throw new Error('not one statement of pg-boss');
  return statement;
}

function within(store: Store): { db: Db } {
  return { db: { executeSql: (text, values) => store.execute(text, values ?? []) } };
}

/** Whether a call has changed its job: pg-boss says so, and its type does not. */
function isDone(response: CommandResponse): boolean {
  return (response as { affected: number }).affected > 0;
}

function attemptOf({ id, retry }: Pick<ClaimedJob, 'id' | 'retry'>): { id: string; retryCount: number } {
  return { id, retryCount: retry };
}

function heartbeatSecondsOf(leaseMs: number): number {
  return Math.max(shortestHeartbeatSeconds, Math.ceil(leaseMs / 1000));
}

function nameOf(line: string): string {
  return line.replace(strange, '_');
}

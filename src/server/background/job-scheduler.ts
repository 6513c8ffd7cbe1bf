import { expireJobs } from '../../actions/jobs/expire-jobs.ts';
import { finalizeCanceledJobs, finalizeDetachedRuns } from '../../actions/jobs/finalize-runs.ts';
import {
  moveSchedules,
  restoreSchedules,
  runSchedules,
  type TurnReport,
} from '../../actions/jobs/run-schedules.ts';
import { requestId } from '../access/request-id.ts';
import type { ServerContext } from '../context.ts';
import { choicesOf } from '../installed.ts';

/** Poll interval of schedules, which is the maximum delay of a run, milliseconds. */
const tickMs = 1000;
/** Interval of the check for expired jobs and for jobs without the outcome of their last run. */
const purgeIntervalMs = 60_000;
/** A clock that falls behind a monotonic one by more than this was set back, milliseconds; less is the time of a query. */
const setBackMs = 1000;

/** Runs schedules, records the outcome of scans in their jobs, and deletes expired jobs. */
export class JobClock {
  readonly #context: ServerContext;
  #timer: NodeJS.Timeout | null = null;
  #tick: Promise<void> | null = null;
  /** Monotonic milliseconds. */
  #purgedAt = Number.NEGATIVE_INFINITY;
  /** Delayed runs that were logged. */
  #waiting = new Set<string>();
  #failing = false;
  /** Last clock reading minus the monotonic time of it, milliseconds. */
  #clockOffset = Number.POSITIVE_INFINITY;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  async start(): Promise<void> {
    await moveSchedules(this.#context, await this.#now());
    this.#timer = setInterval(() => this.#wake(), tickMs);
    this.#wake();
  }

  /** Waits for the current round; starts no more. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#tick;
  }

  #wake(): void {
    if (this.#context.phase === 'draining') return;
    this.#tick ??= this.#round().finally(() => {
      this.#tick = null;
    });
  }

  async #round(): Promise<void> {
    const { log } = this.#context;
    try {
      await this.#runDue();
      if (performance.now() - this.#purgedAt >= purgeIntervalMs) await this.#purge();
      this.#failing = false;
    } catch (err) {
      if (!this.#failing) log.error({ err }, 'cannot run schedules, retrying');
      this.#failing = true;
    }
  }

  /** Servers that share a database use its clock: one that is ahead would start runs early for all. */
  async #now(): Promise<Date> {
    const { shards } = this.#context;
    return new Date(shards ? await shards.line.now() : Date.now());
  }

  async #runDue(): Promise<void> {
    const context = this.#context;
    const now = await this.#now();
    const clockOffset = now.getTime() - performance.now();
    // The first round has no previous one.
    if (clockOffset < this.#clockOffset - setBackMs) await restoreSchedules(context, now);
    this.#clockOffset = clockOffset;
    const { config, workers, installed, shards } = context;
    const reports = await runSchedules(
      {
        ...context,
        plannedWith: (tenant) => {
          const catalogue = installed.of(tenant);
          return { installed: catalogue, choices: choicesOf(catalogue, workers.listeners) };
        },
        wake: () => workers.wake(),
        newRequestId: () => requestId(),
        tenants: config.multi_tenant.enabled ? config.multi_tenant.tenants : null,
        ...(shards && { isAbandoned: (scanId: string) => shards.presence.isAbandoned(scanId) }),
      },
      now,
    );
    for (const report of reports) this.#log(report);
    this.#waiting = new Set(
      reports.filter(({ outcome }) => outcome === 'crowded' || outcome === 'broken').map(turnOf),
    );
  }

  #log(report: TurnReport): void {
    const { log } = this.#context;
    const { outcome, ...facts } = report;
    if (outcome === 'detached') log.warn(facts, 'job continues without its last run');
    else if (outcome === 'started') log.info(facts, 'job run started');
    else if (outcome === 'late') log.warn(facts, 'job run started for missed times');
    else if (outcome === 'skipped') log.warn(facts, 'job run skipped');
    else if (outcome === 'refused') log.warn(facts, 'job run rejected');
    else if (this.#waiting.has(turnOf(report))) return;
    else if (outcome === 'crowded') log.warn(facts, 'job run delayed, queue full');
    else log.error(facts, 'cannot start a job run, retrying');
  }

  async #purge(): Promise<void> {
    this.#purgedAt = performance.now();
    await finalizeCanceledJobs(this.#context.store);
    if (this.#context.shards) await finalizeDetachedRuns(this.#context.store);
    const jobs = await expireJobs(this.#context, await this.#now());
    if (jobs > 0) this.#context.log.info({ jobs }, 'old job records deleted');
  }
}

function turnOf({ job_id, fire_at }: TurnReport): string {
  return `${job_id} ${fire_at}`;
}

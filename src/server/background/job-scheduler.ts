import { expireJobs } from '../../actions/jobs/expire-jobs.ts';
import { finalizeCanceledJobs, finalizeDetachedRuns } from '../../actions/jobs/finalize-runs.ts';
import {
  moveSchedules,
  restoreSchedules,
  runSchedules,
  type TurnReport,
} from '../../actions/jobs/run-schedules.ts';
import type { ServerContext } from '../context.ts';
import { choicesOf } from '../installed.ts';

/** Schedules are to the minute; a run begins so long after its time at the latest. */
const tickMs = 1000;
/** Jobs that were over long ago, or that do not know how their last run ended, are looked for this often. */
const tidyMs = 60_000;
/** A clock that is behind what it said before by more than this was set back, milliseconds. */
const setBackMs = 60_000;

/** Obeys the schedules of jobs, tells jobs how their scans ended, and forgets jobs that were over long ago. */
export class JobClock {
  readonly #context: ServerContext;
  #timer: NodeJS.Timeout | null = null;
  #tick: Promise<void> | null = null;
  /** Monotonic milliseconds. */
  #tidiedAt = Number.NEGATIVE_INFINITY;
  /** Times that were logged because their runs have to wait. */
  #waiting = new Set<string>();
  #failing = false;
  /** What the clock said last, epoch milliseconds. */
  #said = Number.POSITIVE_INFINITY;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  async start(): Promise<void> {
    await moveSchedules(this.#context, await this.#now());
    this.#timer = setInterval(() => this.#wake(), tickMs);
    this.#wake();
  }

  /** Lets a round end; none begins any more. */
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
      await this.#obey();
      if (performance.now() - this.#tidiedAt >= tidyMs) await this.#tidy();
      this.#failing = false;
    } catch (err) {
      if (!this.#failing) log.error({ err }, 'schedules of jobs cannot be obeyed; trying again');
      this.#failing = true;
    }
  }

  /** Servers that share a database go by its clock: one whose own is ahead would be early for all. */
  async #now(): Promise<Date> {
    const { shards } = this.#context;
    return new Date(shards ? await shards.line.now() : Date.now());
  }

  async #obey(): Promise<void> {
    const context = this.#context;
    const now = await this.#now();
    // At the start nobody knows what it said before.
    if (now.getTime() < this.#said - setBackMs) await restoreSchedules(context, now);
    this.#said = now.getTime();
    const { config, workers, installed, shards } = context;
    const reports = await runSchedules(
      {
        ...context,
        plannedWith: (tenant) => {
          const catalogue = installed.of(tenant);
          return { installed: catalogue, choices: choicesOf(catalogue, workers.listeners) };
        },
        wake: () => workers.wake(),
        tenants: config.multi_tenant.enabled ? config.multi_tenant.tenants : null,
        ...(shards && { isAbandoned: (scanId: string) => shards.presence.isAbandoned(scanId) }),
      },
      now,
    );
    for (const report of reports) this.#tell(report);
    this.#waiting = new Set(
      reports.filter(({ outcome }) => outcome === 'crowded' || outcome === 'broken').map(turnOf),
    );
  }

  #tell(report: TurnReport): void {
    const { log } = this.#context;
    const { outcome, ...facts } = report;
    if (outcome === 'detached') log.warn(facts, 'job goes on without its last run');
    else if (outcome === 'started') log.info(facts, 'a job runs');
    else if (outcome === 'late') log.warn(facts, 'a job runs once for all the times that were missed');
    else if (outcome === 'skipped') log.warn(facts, 'a run of a job is left out');
    else if (outcome === 'refused') log.warn(facts, 'a run of a job is refused');
    else if (this.#waiting.has(turnOf(report))) return;
    else if (outcome === 'crowded') log.warn(facts, 'a run of a job waits until there is room');
    else log.error(facts, 'a run of a job cannot begin; trying again');
  }

  async #tidy(): Promise<void> {
    this.#tidiedAt = performance.now();
    await finalizeCanceledJobs(this.#context.store);
    if (this.#context.shards) await finalizeDetachedRuns(this.#context.store);
    const jobs = await expireJobs(this.#context, await this.#now());
    if (jobs > 0) this.#context.log.info({ jobs }, 'records of old jobs are deleted');
  }
}

function turnOf({ job_id, fire_at }: TurnReport): string {
  return `${job_id} ${fire_at}`;
}

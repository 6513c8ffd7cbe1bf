import { listJobs } from '../../actions/jobs/list-jobs.ts';
import { finalizeBeforeReading, type JobView, showStored } from '../../actions/jobs/show-job.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import type { ChangeSource, EventSink } from './service-feed.ts';

/** Interval of reads, milliseconds. */
const readMs = 1000;
/** Jobs read at once of each state. */
const mostJobs = 200;
/** Vanished jobs looked up per read. */
const mostLookups = 20;
/** A job that another server stores may have an earlier time than one that is known, milliseconds. */
const overlapMs = 60_000;

/** Reports new and changed jobs; their progress is that of their scans. */
export class JobChanges implements ChangeSource {
  readonly #view: () => JobView;
  readonly #isOn: () => boolean;
  readonly #known = new Map<string, { state: string; created_at: string; hasEnded: boolean }>();
  #version: string | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #newest: string | null = null;
  #begun = false;

  /**
   * @param view of the tenant
   * @param isOn whether jobs are available
   */
  constructor(view: () => JobView, isOn: () => boolean) {
    this.#view = view;
    this.#isOn = isOn;
  }

  async poll(sink: EventSink): Promise<void> {
    const now = performance.now();
    if (now - this.#readAt < readMs || !this.#isOn()) return;
    const version = this.#view().store.version();
    if (version === this.#version) return;
    this.#version = version;
    this.#readAt = now;
    await this.#read(sink);
  }

  async #read(sink: EventSink): Promise<void> {
    const view = this.#view();
    await finalizeBeforeReading(view.store);
    const page = { limit: mostJobs };
    this.#newest ??= (await listJobs(view, { limit: 1 })).jobs[0]?.created_at ?? null;
    const since = this.#since();
    const lists = [
      await listJobs(view, { ...page, ...(since !== null && { since }) }),
      await listJobs(view, { ...page, status: 'pending' }),
      await listJobs(view, { ...page, status: 'running' }),
    ];
    const found = new Map(lists.flatMap(({ jobs }) => jobs.map((job) => [job.job_id, job])));
    for (const job of found.values()) this.#report(job, sink);
    await this.#lookUp(found, sink);
    this.#dropEnded();
    this.#begun = true;
  }

  #since(): string | null {
    return this.#newest === null ? null : new Date(Date.parse(this.#newest) - overlapMs).toISOString();
  }

  #report(job: Job, sink: EventSink): void {
    const { job_id, created_at } = job;
    const state = stateOf(job);
    const isSame = this.#known.get(job_id)?.state === state;
    if (this.#newest === null || created_at > this.#newest) this.#newest = created_at;
    this.#known.set(job_id, { state, created_at, hasEnded: hasEnded(job) });
    if (this.#begun && !isSame) sink.emit('job', job);
  }

  /** Jobs that had not ended and are no longer listed as such. */
  async #lookUp(found: ReadonlyMap<string, Job>, sink: EventSink): Promise<void> {
    const vanished = [...this.#known].filter(([jobId, { hasEnded: ended }]) => !ended && !found.has(jobId));
    for (const [jobId, known] of vanished.slice(0, mostLookups)) {
      const job = await showStored(this.#view(), jobId).catch(nullIfUnknown);
      this.#known.delete(jobId);
      if (job === null) continue;
      // Beyond the lists: the others come first next time.
      this.#known.set(jobId, known);
      this.#report(job, sink);
    }
  }

  #dropEnded(): void {
    const since = this.#since() ?? '';
    for (const [jobId, { hasEnded: ended, created_at }] of this.#known)
      if (ended && created_at < since) this.#known.delete(jobId);
  }
}

function hasEnded({ status }: Job): boolean {
  return status !== 'pending' && status !== 'running';
}

function stateOf(job: Job): string {
  const { status, last_status, scan_id, run_count, next_run_at, completed_at, error, name, warnings } = job;
  const codes = warnings?.map(({ code }) => code);
  return JSON.stringify([
    status,
    last_status,
    scan_id,
    run_count,
    next_run_at,
    completed_at,
    error?.code,
    name,
    codes,
  ]);
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof PortolanError && error.code === 'not_found') return null;
  throw error;
}

import {
  applyRetention,
  collectGarbage,
  type DiskShortfall,
  type GarbageContext,
  type GarbageReport,
  type GarbageRequest,
} from '../../actions/workspace/collect-garbage.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ExclusiveWork } from '../../queue/exclusive-work.ts';
import type { ServerLog } from '../logging/log.ts';

/** Interval at which retention is applied, in addition to after each scan, milliseconds. */
const sweepMs = 3_600_000;
/**
 * After a run that could not reach `min_free_space`, runs after scans skip it for this long, milliseconds: each would
 * add up the sizes of all scans again.
 */
const shortfallMs = 600_000;
/** Pause before retention is applied while another server of the database applies it, milliseconds. */
const busyMs = 1000;

/** Store and workspace with the scans that a run may delete. */
export type FreeSpace = Pick<GarbageContext, 'store' | 'workspace'> & { tenant: string | null };

/** A running collection; tenant undefined = all tenants. */
interface Run {
  tenant: string | null | undefined;
  done: Promise<unknown>;
}

/** Collects garbage of one workspace or database, one run at a time, on request and by retention. */
export class GarbageCollector {
  readonly #context: GarbageContext;
  readonly #log: ServerLog;
  /** Of the servers of a database; null for a workspace of this server alone. */
  readonly #exclusive: ExclusiveWork | null;
  #timer: NodeJS.Timeout | null = null;
  #busyTimer: NodeJS.Timeout | null = null;
  #run: Run | null = null;
  #sweepAgain = false;
  /** Why `min_free_space` cannot be reached, and when that was found (performance.now). */
  #shortfall: (DiskShortfall & { foundAt: number }) | null = null;
  #closed = false;

  constructor(context: GarbageContext, log: ServerLog, exclusive: ExclusiveWork | null) {
    this.#context = context;
    this.#log = log;
    this.#exclusive = exclusive;
  }

  /** Result of the last check of `min_free_space`; null if it was reached. */
  get shortfall(): DiskShortfall | null {
    return this.#context.retention.enabled ? this.#shortfall : null;
  }

  /** Applies retention now and periodically. */
  start(): void {
    this.#timer = setInterval(() => this.#sweepAnew(), sweepMs);
    this.#sweepAnew();
  }

  /** Checks the free space again, whatever the last result, and warns again. */
  #sweepAnew(): void {
    this.#shortfall = null;
    this.sweep();
  }

  /**
   * Collects only the scans of one tenant; waits for a run of another tenant.
   * @throws PortolanError `conflict` during another run for the same scans
   */
  async collect({ tenant, store, workspace }: FreeSpace, request: GarbageRequest): Promise<GarbageReport> {
    while (this.#run && this.#run.tenant !== undefined && this.#run.tenant !== tenant) {
      await this.#run.done.catch(() => undefined);
    }
    if (this.#run) throw anotherRuns();
    const space = { ...this.#context, store, workspace };
    const ran = await this.#alone(
      tenant,
      this.#exclusively(() => collectGarbage(space, request)),
    );
    if (ran === null) throw anotherRuns();
    return ran.done.report;
  }

  /** Applies retention; during a run, after it. */
  sweep(): void {
    if (!this.#context.retention.enabled || this.#closed) return;
    if (this.#run) this.#sweepAgain = true;
    else void this.#alone(undefined, this.#sweep());
  }

  /** Waits for the current run; starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    if (this.#busyTimer) clearTimeout(this.#busyTimer);
    await this.#run?.done.catch(() => undefined);
  }

  /** @returns null while another server of the database collects garbage */
  async #exclusively<T>(collect: () => Promise<T>): Promise<{ done: T } | null> {
    return this.#exclusive ? await this.#exclusive.run(collect) : { done: await collect() };
  }

  async #alone<T>(tenant: Run['tenant'], done: Promise<T>): Promise<T> {
    this.#run = { tenant, done };
    try {
      return await done;
    } finally {
      this.#run = null;
      if (this.#sweepAgain) {
        this.#sweepAgain = false;
        this.sweep();
      }
    }
  }

  async #sweep(): Promise<void> {
    const foundAt = this.#shortfall?.foundAt ?? Number.NEGATIVE_INFINITY;
    const withSpace = performance.now() - foundAt >= shortfallMs;
    try {
      const ran = await this.#exclusively(() => applyRetention(this.#context, { withSpace }));
      if (ran === null) {
        this.#sweepLater();
        return;
      }
      const { report, shortfall } = ran.done;
      const { deleted_count, freed_bytes, errors } = report;
      if (deleted_count > 0) this.#log.info({ deleted_count, freed_bytes }, 'old scans deleted');
      for (const error of errors) {
        const fields = await this.#context.store.scans.logFieldsOf(error.scan_id);
        this.#log.warn({ ...error, ...fields }, 'cannot delete an old scan');
      }
      if (shortfall !== undefined) this.#follow(shortfall);
    } catch (err) {
      this.#log.error({ err }, 'applying retention failed');
    }
  }

  #sweepLater(): void {
    if (this.#closed) return;
    if (this.#busyTimer) clearTimeout(this.#busyTimer);
    this.#busyTimer = setTimeout(() => this.sweep(), busyMs).unref();
  }

  #follow(shortfall: DiskShortfall | null): void {
    if (shortfall && !this.#shortfall) this.#log.warn(shortfall, shortfallText(shortfall));
    this.#shortfall = shortfall && { ...shortfall, foundAt: performance.now() };
  }
}

function anotherRuns(): PortolanError {
  return new PortolanError('conflict', 'Another garbage collection is running.');
}

/** For the log and the health response. */
export function shortfallText({ min_free_space, free, clearable }: DiskShortfall): string {
  return (
    `cannot reach workspace.retention.min_free_space: ${mebibytes(free)} are free, deleting old scans could free ` +
    `${mebibytes(clearable)}, the limit is ${mebibytes(min_free_space)}; deleting no scans for it`
  );
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}

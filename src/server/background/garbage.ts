import {
  applyRetention,
  collectGarbage,
  type DiskShortfall,
  type GarbageContext,
  type GarbageReport,
  type GarbageRequest,
} from '../../actions/workspace/collect-garbage.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ServerLog } from '../logging/log.ts';

/** The configured retention is applied this often, beside after each scan. */
const sweepMs = 3_600_000;
/**
 * After a run that found `min_free_space` out of reach, the runs after scans leave it out for so long, milliseconds:
 * each would add up the sizes of all scans again.
 */
const shortfallMs = 600_000;

/** Whose scans a run may delete. */
export type FreeSpace = Pick<GarbageContext, 'store' | 'workspace'> & { tenant: string | null };

/** A run under way; the tenant is undefined when it is for all. */
interface Run {
  tenant: string | null | undefined;
  done: Promise<unknown>;
}

/** Collects garbage of one workspace, one run at a time, by request and by the configured retention. */
export class GarbageCollector {
  readonly #context: GarbageContext;
  readonly #log: ServerLog;
  #timer: NodeJS.Timeout | null = null;
  #run: Run | null = null;
  #sweepAgain = false;
  /** Why `min_free_space` is out of reach, and when that was found (performance.now). */
  #shortfall: (DiskShortfall & { foundAt: number }) | null = null;
  #closed = false;

  constructor(context: GarbageContext, log: ServerLog) {
    this.#context = context;
    this.#log = log;
  }

  /** That `min_free_space` was out of reach when it was looked at last; null when it was not. */
  get shortfall(): DiskShortfall | null {
    return this.#context.retention.enabled ? this.#shortfall : null;
  }

  /** Applies the configured retention now and from now on. */
  start(): void {
    this.#timer = setInterval(() => this.#sweepAnew(), sweepMs);
    this.#sweepAnew();
  }

  /** Looks at the free space too, whatever was found before, and warns again. */
  #sweepAnew(): void {
    this.#shortfall = null;
    this.sweep();
  }

  /**
   * Collects the scans of one space only. That another tenant collects is not its business: it waits for its turn.
   * @throws PortolanError `conflict` while another run for the same scans is under way
   */
  async collect({ tenant, store, workspace }: FreeSpace, request: GarbageRequest): Promise<GarbageReport> {
    while (this.#run && this.#run.tenant !== undefined && this.#run.tenant !== tenant) {
      await this.#run.done.catch(() => undefined);
    }
    if (this.#run) throw new PortolanError('conflict', 'Another garbage collection is under way.');
    const space = { ...this.#context, store, workspace };
    const { report } = await this.#alone(tenant, collectGarbage(space, request));
    return report;
  }

  /** Applies the configured retention; during a run, after it. */
  sweep(): void {
    if (!this.#context.retention.enabled || this.#closed) return;
    if (this.#run) this.#sweepAgain = true;
    else void this.#alone(undefined, this.#sweep());
  }

  /** Lets a run end; none begins any more. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#run?.done.catch(() => undefined);
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
      const { report, shortfall } = await applyRetention(this.#context, { withSpace });
      const { deleted_count, freed_bytes, errors } = report;
      if (deleted_count > 0) this.#log.info({ deleted_count, freed_bytes }, 'old scans are deleted');
      for (const error of errors) this.#log.warn(error, 'an old scan could not be deleted');
      if (shortfall !== undefined) this.#follow(shortfall);
    } catch (err) {
      this.#log.error({ err }, 'the configured retention could not be applied');
    }
  }

  #follow(shortfall: DiskShortfall | null): void {
    if (shortfall && !this.#shortfall) this.#log.warn(shortfall, shortfallText(shortfall));
    this.#shortfall = shortfall && { ...shortfall, foundAt: performance.now() };
  }
}

/** For the log and the health response. */
export function shortfallText({ min_free_space, free, clearable }: DiskShortfall): string {
  return (
    `workspace.retention.min_free_space is out of reach: ${mebibytes(free)} are free, deleting old scans could free ` +
    `${mebibytes(clearable)}, the cap is ${mebibytes(min_free_space)}; no scan is deleted for it`
  );
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}

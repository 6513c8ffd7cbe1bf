import {
  collectGarbage,
  type GarbageContext,
  type GarbageReport,
  type GarbageRequest,
} from '../actions/collect-garbage.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ServerLog } from './log.ts';

/** The configured retention is applied this often, beside after each scan. */
const sweepMs = 3_600_000;

/** Whose scans a run may delete. */
export type GarbageSpace = Pick<GarbageContext, 'store' | 'workspace'> & { tenant: string | null };

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
  #closed = false;

  constructor(context: GarbageContext, log: ServerLog) {
    this.#context = context;
    this.#log = log;
  }

  /** Applies the configured retention now and from now on. */
  start(): void {
    this.#timer = setInterval(() => this.sweep(), sweepMs);
    this.sweep();
  }

  /**
   * Collects the scans of one space only. That another tenant collects is not its business: it waits for its turn.
   * @throws PortolanError `conflict` while another run for the same scans is under way
   */
  async collect({ tenant, store, workspace }: GarbageSpace, request: GarbageRequest): Promise<GarbageReport> {
    while (this.#run && this.#run.tenant !== undefined && this.#run.tenant !== tenant) {
      await this.#run.done.catch(() => undefined);
    }
    if (this.#run) throw new PortolanError('conflict', 'Another garbage collection is under way.');
    const space = { ...this.#context, store, workspace };
    return await this.#alone(tenant, collectGarbage(space, request));
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
    try {
      const { deleted_count, freed_bytes, errors } = await collectGarbage(this.#context, {});
      if (deleted_count > 0) this.#log.info({ deleted_count, freed_bytes }, 'old scans are deleted');
      for (const error of errors) this.#log.warn(error, 'an old scan could not be deleted');
    } catch (err) {
      this.#log.error({ err }, 'the configured retention could not be applied');
    }
  }
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Store } from '../../store/open.ts';
import { restoreAdvice } from '../../store/sqlite/backup.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay and interval of the check: the start comes first, and pages that nothing reads decay too. */
const pace = { firstMs: 2000, betweenMs: 24 * 3_600_000 };
/** A check that takes longer is ended, milliseconds: it reads the whole file. */
const checkLimitMs = 30_000;

const run = promisify(execFile);

/**
 * Reports a damaged SQLite file once, in log and health, whether a statement meets the damage or the check finds it. The check
 * is a process: SQLite cannot be interrupted in this one.
 */
export class StoreDamage extends PeriodicTasks {
  readonly #file: string;
  readonly #log: ServerLog;
  #fault: string | null = null;

  constructor(
    { store, workspace }: { store: Pick<Store, 'onDamage'>; workspace: Workspace },
    log: ServerLog,
    times = pace,
  ) {
    super((signal) => this.#check(signal), times);
    this.#file = workspace.storeFile;
    this.#log = log;
    store.onDamage((reason) => this.#report([reason]));
  }

  /** The damage and what to do in one sentence, until the server is stopped; null without any. */
  get fault(): string | null {
    return this.#fault;
  }

  async #check(signal: AbortSignal): Promise<void> {
    // The store is in PostgreSQL.
    if (!existsSync(this.#file)) return;
    const program = fileURLToPath(
      new URL(`../../store/quick-check.worker${extname(import.meta.url)}`, import.meta.url),
    );
    try {
      const limits = { timeout: checkLimitMs, killSignal: 'SIGKILL', signal } as const;
      const { stdout } = await run(process.execPath, [program, this.#file], limits);
      const faults = JSON.parse(stdout) as string[];
      if (faults.length > 0) this.#report(faults);
    } catch (err) {
      if (!signal.aborted) this.#log.warn({ err }, 'cannot check the store for damage');
    }
  }

  #report(faults: string[]): void {
    if (this.#fault !== null) return;
    const remedy = restoreAdvice(this.#file);
    this.#fault = `the store is damaged (${faults[0]}): ${remedy}`;
    this.#log.error({ file: this.#file, faults, remedy }, 'store damaged');
  }
}

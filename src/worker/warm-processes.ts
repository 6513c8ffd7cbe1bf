import type { ScanRequest } from '../domain/scan.ts';
import { plannedPlugins } from '../scan-run/plan/plan-plugins.ts';
import { ServingProcess, type ServingProcessInput } from './serving-process.ts';

/** Maximum number of scans of a process; then another one follows. */
export const maxScans = 100;
/** Maximum resident memory of a process that runs another scan, bytes. */
export const maxMemory = 300 * 1024 * 1024;

/** A process reports within this time that its scan left nothing behind, milliseconds; else it is replaced. */
const idleMs = 1500;
/** A spare one starts after this time, milliseconds, unless a small scan has given its process back. */
const spareMs = 1000;
/** More processes than one that wait for a scan end when they have for this long, milliseconds. */
const surplusMs = 5000;
/** Time for an unused process to clean up its modules, milliseconds. */
const endMs = 2000;

export interface WarmProcessesInput {
  /** What a process that starts now is started with. */
  settings: () => ServingProcessInput;
  /** Whether one waits for the next scan also while large scans run. */
  keepsSpare: boolean;
  /** Called when a process does not run another scan. */
  onReplace: (reason: string, pid: number | undefined) => void;
}

/** A process and what decides which scans may run in it. */
interface Warm {
  process: ServingProcess;
  /** Environment that it was started with: settings of the log. */
  env: string;
  /** Tenant of its scans; undefined before the first one. */
  tenant: string | null | undefined;
  /** Whether it runs a scan that is not small. */
  isLarge: boolean;
  /** When it began to wait for a scan, monotonic milliseconds. */
  idleSince: number;
  /** Whether it lost its scan in an unknown state, or is about to end. */
  ending: boolean;
}

/**
 * Processes that run scans one after another; one is kept for the next scan. A process runs scans of one tenant only, and
 * none after a scan that left something behind.
 */
export class WarmProcesses {
  readonly #input: WarmProcessesInput;
  readonly #all = new Map<ServingProcess, Warm>();
  /** These wait for a scan, the newest last. */
  readonly #idle: Warm[] = [];
  /** Scans have ended in these; what they left behind is not known yet. */
  readonly #leaving = new Map<Warm, Promise<boolean>>();
  #surplus: NodeJS.Timeout | null = null;
  #spare: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(input: WarmProcessesInput) {
    this.#input = input;
  }

  /** Number of processes, with and without a scan. */
  get size(): number {
    return this.#all.size;
  }

  /** Pids of the processes that wait for a scan. */
  get idlePids(): (number | undefined)[] {
    return this.#idle.map(({ process }) => process.pid);
  }

  /** What a process that starts now is started with. */
  get settings(): ServingProcessInput {
    return this.#input.settings();
  }

  /** Starts a process for the next scan, unless there is one. */
  prepare(): void {
    if (this.#closed || [...this.#all.values()].some(({ ending }) => !ending)) return;
    this.#wait(this.#launch());
  }

  /** A process for a scan of a tenant; to be given back when the scan has ended. */
  async take(tenant: string | null, isSmall = true): Promise<ServingProcess> {
    const waiting = isSmall || !this.#isSpareWanted ? this.#takeIdle(tenant) : null;
    const idle = waiting ?? (await this.#takeLeaving(tenant));
    const taken = idle ?? this.#launch();
    taken.tenant = tenant;
    taken.isLarge = !isSmall;
    if (this.#runsLarge) this.#spare ??= setTimeout(() => this.#addSpare(), spareMs).unref();
    return taken.process;
  }

  /** A process for a scan; null for one that runs plugins: it has a process of its own, which ends with it. */
  async takeFor(
    tenant: string | null,
    request: Pick<ScanRequest, 'plugins'>,
    isSmall: boolean,
  ): Promise<ServingProcess | null> {
    return plannedPlugins(request).length > 0 ? null : await this.take(tenant, isSmall);
  }

  /** Small scans end soon: one more of them waits for the process of another one. */
  get #runsLarge(): boolean {
    return this.#input.keepsSpare && [...this.#all.values()].some(({ isLarge }) => isLarge);
  }

  /** Others run scans: the last process that waits is for a small one. */
  get #isSpareWanted(): boolean {
    return this.#input.keepsSpare && this.#idle.length === 1 && this.#all.size > 1;
  }

  /** The scan in it has ended, or none was started. @param process null = the scan had one of its own */
  giveBack(process: ServingProcess | null): void {
    if (process === null) return;
    const warm = this.#all.get(process);
    // It died with its scan.
    if (!warm) return this.prepare();
    warm.isLarge = false;
    if (process.scans === 0) return this.#keep(warm);
    const clean = this.#isClean(warm).then((isClean) => {
      // Whoever waits for this process takes it.
      if (!this.#leaving.delete(warm)) return isClean;
      if (isClean) this.#keep(warm);
      return isClean;
    });
    this.#leaving.set(warm, clean);
  }

  /** No process is kept from now on: those without a scan end, the others when they are given back. Resolves when all have exited. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#surplus) clearTimeout(this.#surplus);
    if (this.#spare) clearTimeout(this.#spare);
    for (const warm of this.#idle.splice(0)) this.#end(warm);
    await Promise.all([...this.#all.keys()].map(({ gone }) => gone));
  }

  #takeIdle(tenant: string | null): Warm | null {
    const fit = this.#idle.findLastIndex((warm) => this.#mismatch(warm, tenant) === null);
    if (fit >= 0) return this.#idle.splice(fit, 1)[0] ?? null;
    const unfit = this.#idle.shift();
    if (unfit) this.#replace(unfit, this.#mismatch(unfit, tenant) ?? 'unused');
    return null;
  }

  async #takeLeaving(tenant: string | null): Promise<Warm | null> {
    for (const [warm, clean] of this.#leaving) {
      if (this.#mismatch(warm, tenant) !== null) continue;
      this.#leaving.delete(warm);
      if (await clean) return warm;
      break;
    }
    return null;
  }

  #mismatch({ tenant: own, env, process }: Warm, tenant: string | null): string | null {
    if (!process.alive) return 'it has exited';
    if (own !== undefined && own !== tenant) return 'a scan of another tenant';
    return env === this.#env(this.#input.settings()) ? null : 'the settings of the log have changed';
  }

  #env({ env }: ServingProcessInput): string {
    return JSON.stringify(env);
  }

  #launch(): Warm {
    const settings = this.#input.settings();
    const process = new ServingProcess(settings);
    const warm: Warm = {
      process,
      env: this.#env(settings),
      tenant: undefined,
      isLarge: false,
      idleSince: 0,
      ending: false,
    };
    this.#all.set(process, warm);
    void process.gone.then(() => {
      this.#all.delete(process);
      const index = this.#idle.indexOf(warm);
      if (index >= 0) this.#idle.splice(index, 1);
    });
    return warm;
  }

  /** @returns false after it has ended the process */
  async #isClean(warm: Warm): Promise<boolean> {
    const reason = await this.#reasonToReplace(warm);
    if (reason === null) return true;
    this.#replace(warm, reason);
    this.prepare();
    return false;
  }

  async #reasonToReplace({ process }: Warm): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('it did not report the end of its scan'), idleMs);
    });
    const gone = process.gone.then(() => 'it has exited');
    const state = await Promise.race([process.idle, gone, late]);
    clearTimeout(timer);
    if (typeof state === 'string') return state;
    const { residue, memory } = state;
    if (residue !== null) return residue;
    if (process.scans >= maxScans) return `${maxScans} scans`;
    return memory > maxMemory ? `${Math.round(memory / 1024 / 1024)} MB resident` : null;
  }

  #addSpare(): void {
    this.#spare = null;
    if (!this.#closed && this.#idle.length === 0) this.#wait(this.#launch());
  }

  #keep(warm: Warm): void {
    if (this.#closed || !warm.process.alive) return this.#end(warm);
    this.#wait(warm);
    this.#surplus ??= setTimeout(() => this.#endSurplus(), surplusMs).unref();
  }

  #wait(warm: Warm): void {
    warm.idleSince = performance.now();
    this.#idle.push(warm);
  }

  /** The newest ones are taken first: the others wait because there are too many. */
  #endSurplus(): void {
    this.#surplus = null;
    const before = performance.now() - surplusMs;
    const lasting = this.#idle.slice(0, -1).filter(({ idleSince }) => idleSince <= before);
    for (const warm of lasting) {
      this.#idle.splice(this.#idle.indexOf(warm), 1);
      this.#end(warm);
    }
    if (this.#idle.length > 1) this.#surplus = setTimeout(() => this.#endSurplus(), surplusMs).unref();
  }

  #replace(warm: Warm, reason: string): void {
    this.#input.onReplace(reason, warm.process.pid);
    this.#end(warm);
  }

  #end(warm: Warm): void {
    if (warm.ending) return;
    warm.ending = true;
    const { process } = warm;
    process.send({ type: 'end' });
    const killer = setTimeout(() => process.kill(), endMs);
    void process.gone.then(() => clearTimeout(killer));
  }
}

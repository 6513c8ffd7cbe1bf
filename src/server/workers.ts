import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScanStopper } from '../actions/cancel-scan.ts';
import { concludeScan } from '../actions/conclude-scan.ts';
import { interruptScan, isDeadCommandLine } from '../actions/interrupt-scan.ts';
import type { ScanOutcome } from '../actions/scan-messages.ts';
import type { Config } from '../config/schema.ts';
import { type FailureCode, isFinal, type Scan, type ScanRequest } from '../domain/scan.ts';
import type { EmbeddedQueue } from '../queue/embedded.ts';
import type { Claim } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import { checkpointProgress } from '../workspace/checkpoint.ts';
import { openRecord } from '../workspace/record-writer.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { logEnvironment, type ServerLog } from './log.ts';
import { nextResumeMark, readResumeMark, removeResumeMark, writeResumeMark } from './resume-mark.ts';
import { ScanProcess } from './scan-process.ts';

export interface WorkerPoolInput {
  store: Store;
  queue: EmbeddedQueue;
  workspace: Workspace;
  config: Config;
  entryFile: string;
  log: ServerLog;
  /** Told whenever a scan has left its worker. */
  onScanEnd: () => void;
}

/** One claimed scan and the process that runs it. */
interface Slot extends Claim {
  process: ScanProcess | null;
  canceled: boolean;
  /** Another worker has the scan now; nothing of it may be written any more. */
  lost: boolean;
  /** Resolves when everything about the scan is stored. */
  settled: Promise<void>;
  /** The live report that is stored last. */
  stored: unknown;
}

/** A scan that does not end by itself after a cancel is killed. */
const cancelGraceMs = 5000;
/** The queue is looked at this often even when nobody says that something waits. */
const pollMs = 2000;
/** Live figures are stored this often. */
const storeMs = 1000;
/** Pause before a scan whose process died is started again; doubled with every further death. */
const backoffMs = 250;

const canceledError = { code: 'canceled' as const, message: 'The scan was canceled.' };

/**
 * Runs waiting scans, each in a process of its own, as many at a time as `server.workers` says. Keeps their leases
 * alive, their figures stored and their listeners informed, and takes scans up again whose process died.
 */
export class WorkerPool implements ScanStopper {
  readonly #input: WorkerPoolInput;
  readonly #slots = new Map<string, Slot>();
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #timers: NodeJS.Timeout[] = [];
  #filling: Promise<void> | null = null;
  #fillAgain = false;
  #claiming = false;
  #draining = false;

  constructor(input: WorkerPoolInput) {
    this.#input = input;
  }

  /** False when no scan would be started. */
  get alive(): boolean {
    return this.#claiming && !this.#draining;
  }

  counts(): { active: number; idle: number; total: number } {
    const total = this.#input.config.server.workers;
    return { active: this.#slots.size, idle: Math.max(0, total - this.#slots.size), total };
  }

  /** Puts the scans of a server that died back in line, then begins to work. */
  async start(): Promise<void> {
    await this.#recover();
    this.#claiming = true;
    const { heartbeat } = this.#input.config.workers;
    this.#timers.push(setInterval(() => this.wake(), pollMs));
    this.#timers.push(setInterval(() => void this.#heartbeat(), heartbeat));
    this.#timers.push(setInterval(() => void this.#storeLive(), storeMs));
    this.wake();
  }

  /** Something may wait in the queue. */
  wake(): void {
    this.#fillAgain = true;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = null;
      if (this.#fillAgain && this.alive) this.wake();
    });
  }

  async stop(scanId: string): Promise<void> {
    const slot = this.#slots.get(scanId);
    if (!slot) return;
    slot.canceled = true;
    slot.process?.cancel();
    await slot.settled;
  }

  /** The scan with the newest figures of its process. */
  freshen<S extends Scan>(scan: S): S {
    const live = this.#slots.get(scan.scan_id)?.process?.live;
    return live && scan.status === 'running' ? { ...scan, ...live } : scan;
  }

  /** Resolves at the next news of a scan, after `ms`, or on abort. */
  async changed(scanId: string, signal: AbortSignal, ms: number): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#news.off(scanId, done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.#news.on(scanId, done);
    });
  }

  /** Stops all scans where they are, to be resumed at the next start. A process that does not end is killed. */
  async close(timeoutMs: number): Promise<void> {
    this.#draining = true;
    await this.#filling;
    const slots = [...this.#slots.values()];
    for (const slot of slots) slot.process?.detach();
    const late = setTimeout(() => slots.forEach((slot) => slot.process?.kill()), timeoutMs);
    await Promise.all(slots.map((slot) => slot.settled));
    clearTimeout(late);
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #fill(): Promise<void> {
    const { queue, config, log } = this.#input;
    try {
      while (this.#fillAgain && this.alive) {
        this.#fillAgain = false;
        while (this.alive && this.#slots.size < config.server.workers) {
          const claim = await queue.claim(`server:${process.pid}`);
          if (claim === null) break;
          this.#begin(claim);
        }
      }
    } catch (err) {
      // The poll tries again; until then the health answer shows that the store is not reachable.
      log.error({ err }, 'the queue cannot be read');
    }
  }

  #begin(claim: Claim): void {
    const own = this.#slots.get(claim.scanId);
    if (own) {
      // The lease lapsed although the scan still runs here (the machine slept, the disk was full): it goes on.
      own.attempt = claim.attempt;
      return;
    }
    const slot: Slot = {
      ...claim,
      process: null,
      canceled: false,
      lost: false,
      settled: Promise.resolve(),
      stored: null,
    };
    this.#slots.set(claim.scanId, slot);
    slot.settled = this.#work(slot)
      .catch((err) => this.#input.log.error({ err, scan_id: claim.scanId }, 'a scan could not be carried on'))
      .finally(() => {
        this.#slots.delete(claim.scanId);
        this.#news.emit(claim.scanId);
        this.#input.onScanEnd();
        if (this.alive) this.wake();
      });
  }

  async #work(slot: Slot): Promise<void> {
    const { store, queue, workspace } = this.#input;
    const [scan, request] = await Promise.all([
      store.scans.get(slot.scanId),
      store.scans.request(slot.scanId),
    ]);
    if (!scan || !request || isFinal(scan.status)) {
      await queue.complete(slot.scanId, slot.attempt);
      return;
    }
    const folder = workspace.scan(slot.scanId);
    const stalled = scan.started_at === null ? 0 : await this.#prepareResume(slot, scan, folder);
    if (stalled === null) return;
    await this.#run(slot, scan, request);
    await this.#settle(slot, folder, stalled);
  }

  /** @returns resumes in a row without progress, this one included; null when the scan is over */
  async #prepareResume(slot: Slot, scan: Scan, folder: ScanFolder): Promise<number | null> {
    const { config } = this.#input;
    const record = await openRecord(folder);
    const { rows, finished } = record;
    await record.close();
    if (finished) {
      await this.#conclude(slot, folder);
      return null;
    }
    const reached = rows + (await checkpointProgress(folder));
    const mark = nextResumeMark(await readResumeMark(folder), reached);
    if (mark.stalled > config.scanner.max_resumes) {
      const tries = `${scan.progress.resumes + 1} times`;
      const message = `The process of the scan ended ${tries}, the last ${mark.stalled} without new progress.`;
      await this.#interrupt(slot, { code: 'interrupted', message });
      return null;
    }
    await writeResumeMark(folder, mark);
    return mark.stalled;
  }

  async #run(slot: Slot, scan: Scan, request: ScanRequest): Promise<void> {
    const { store, config, workspace, entryFile, log } = this.#input;
    const resumes = scan.started_at === null ? 0 : scan.progress.resumes + 1;
    const startedAt = scan.started_at ?? new Date().toISOString();
    await store.scans.update(scan.scan_id, {
      status: 'running',
      started_at: startedAt,
      progress: { ...scan.progress, phase: 'starting', resumes },
    });
    this.#news.emit(scan.scan_id);
    if (this.#draining || slot.canceled) return;
    slot.process = new ScanProcess({
      entryFile,
      start: { type: 'start', request, config, workspaceDir: workspace.dir, startedAt, resumes },
      env: { ...process.env, ...logEnvironment(config.logging) },
      graceMs: cancelGraceMs,
      onNews: () => this.#news.emit(scan.scan_id),
      onFault: (message) =>
        log.error({ scan_id: scan.scan_id, fault: message }, 'the process of a scan reports a fault'),
    });
    log.info({ scan_id: scan.scan_id, pid: slot.process.pid, resumes }, 'scan started');
    await slot.process.gone;
  }

  async #settle(slot: Slot, folder: ScanFolder, stalled: number): Promise<void> {
    const outcome = slot.process?.outcome;
    if (slot.lost) return;
    if (outcome) return await this.#storeOutcome(slot, folder, outcome);
    if (slot.canceled) return await this.#interrupt(slot, canceledError);
    const { queue, log } = this.#input;
    await this.#storeFigures(slot);
    if (this.#draining) {
      await writeResumeMark(folder, { ...(await readResumeMark(folder)), orderly: true });
    } else {
      log.warn({ scan_id: slot.scanId, stalled }, 'the process of a scan died; the scan is resumed');
      await this.#pause(slot, backoffMs * 2 ** Math.min(stalled, 6));
      if (slot.canceled) return await this.#interrupt(slot, canceledError);
    }
    await queue.release(slot.scanId, slot.attempt);
  }

  /** Waits, unless the server stops or the scan is canceled meanwhile. */
  async #pause(slot: Slot, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until && !this.#draining && !slot.canceled) await sleep(50);
  }

  /** The end of a scan and of its job are one fact: both are stored or none. */
  async #storeOutcome(slot: Slot, folder: ScanFolder, outcome: ScanOutcome): Promise<void> {
    const { store, log } = this.#input;
    const { scanId } = slot;
    // A cancel that came when the scan was just done changes nothing.
    const jobState = outcome.status === 'completed' || outcome.error?.code === 'canceled' ? 'done' : 'failed';
    const write = () =>
      store.transaction(async (inside) => {
        if (!(await inside.jobs.finish(slot, jobState, Date.now()))) return;
        await inside.scans.update(scanId, outcome);
      });
    await this.#untilStored(scanId, write);
    await removeResumeMark(folder);
    await store.scans.setSize(scanId, await folder.sizeBytes());
    log.info({ scan_id: scanId, status: outcome.status, error: outcome.error?.code }, 'scan ended');
  }

  /** A full disk may get room again; until then a scan that has ended keeps its place, and is not run a second time. */
  async #untilStored(scanId: string, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (err) {
        if (this.#draining) throw err;
        if (tries === 1)
          this.#input.log.error({ err, scan_id: scanId }, 'the end of a scan cannot be stored yet');
        await sleep(storeMs);
      }
    }
  }

  /** The record was finished by a process that could not tell any more. */
  async #conclude(slot: Slot, folder: ScanFolder): Promise<void> {
    const { store, workspace, queue } = this.#input;
    await concludeScan({ store, workspace }, slot.scanId);
    await queue.complete(slot.scanId, slot.attempt);
    await removeResumeMark(folder);
  }

  async #interrupt(slot: Slot, error: { code: FailureCode; message: string }): Promise<void> {
    const { store, workspace, log } = this.#input;
    await interruptScan({ store, workspace }, slot.scanId, error);
    const state = error.code === 'canceled' ? 'done' : 'failed';
    await store.jobs.finish({ scanId: slot.scanId, attempt: slot.attempt }, state, Date.now());
    await removeResumeMark(workspace.scan(slot.scanId));
    log.info({ scan_id: slot.scanId, error: error.code }, 'scan ended');
  }

  async #heartbeat(): Promise<void> {
    const { queue, log } = this.#input;
    for (const slot of this.#slots.values()) {
      try {
        if (await queue.heartbeat(slot.scanId, slot.attempt)) continue;
        if (!this.#slots.has(slot.scanId) || slot.process?.outcome) continue;
        slot.lost = true;
        slot.process?.kill();
        log.error({ scan_id: slot.scanId }, 'the lease of a scan is lost; its process was ended');
      } catch (err) {
        log.error({ err, scan_id: slot.scanId }, 'a lease could not be renewed');
      }
    }
  }

  async #storeLive(): Promise<void> {
    for (const slot of this.#slots.values()) await this.#storeFigures(slot);
  }

  async #storeFigures(slot: Slot): Promise<void> {
    const { store, log } = this.#input;
    const live = slot.process?.live;
    if (!live || live === slot.stored || slot.process?.outcome) return;
    slot.stored = live;
    await store.scans
      .update(slot.scanId, { ...live, status: 'running' })
      .catch((err: unknown) => log.warn({ err, scan_id: slot.scanId }, 'figures of a scan were not stored'));
  }

  /** Nothing runs yet: what is stored as running belongs to a process that is gone, or to a command line. */
  async #recover(): Promise<void> {
    const { store, queue, workspace, log } = this.#input;
    const reclaimed = await queue.reclaimAll();
    if (reclaimed > 0) log.info({ scans: reclaimed }, 'scans of the server before are resumed');
    const { scans: pending } = await store.scans.list({ status: 'pending', limit: 1000, offset: 0 });
    for (const { scan_id } of [...(await store.scans.orphans()), ...pending]) {
      if (await queue.isCanceled(scan_id)) await interruptScan({ store, workspace }, scan_id, canceledError);
      else if (isDeadCommandLine(await store.scans.executor(scan_id))) {
        const message = 'The command line that ran the scan ended before the scan did.';
        await interruptScan({ store, workspace }, scan_id, { code: 'interrupted', message });
      }
    }
  }
}

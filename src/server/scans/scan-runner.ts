import { setTimeout as sleep } from 'node:timers/promises';
import { ceilingOf } from '../../domain/packet-rate.ts';
import { isFinal, type Scan, type ScanRequest } from '../../domain/scan.ts';
import { notSending } from '../../domain/scan-progress.ts';
import { Slots } from '../../net/gate/slots.ts';
import { canceledFailure } from '../../scan-run/finalize/interrupt-scan.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { RunningScan } from '../../worker/running-scan.ts';
import { ScanProcess, type ScanProcessInput } from '../../worker/scan-process.ts';
import type { ServingProcess } from '../../worker/serving-process.ts';
import type { WarmProcesses } from '../../worker/warm-processes.ts';
import type { WorkerPlace } from '../../worker/worker-place.ts';
import { checkpointProgress } from '../../workspace/record/checkpoint.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { scanStarted } from '../logging/audit.ts';
import type { Distribution } from '../shards/distribution.ts';
import { ShardedScan, type ShardedScanInput } from '../shards/sharded-scan.ts';
import { UndividedScan } from '../shards/undivided-scan.ts';
import type { Blackout } from './blackout.ts';
import { storeProgress } from './live-progress.ts';
import { placeScan, type ScanPlacing } from './place-scan.ts';
import { folderOf, type PoolContext } from './pool-context.ts';
import type { RateSharing } from './rate-sharing.ts';
import { nextResumeMark, readResumeMark, writeResumeMark } from './resume-mark.ts';
import type { ScanEnds } from './scan-end.ts';
import { processesOf } from './scan-processes.ts';
import { pauseProgress, type ScanSlot, slotFields } from './scan-slot.ts';

/** Grace period between cancel and SIGKILL, milliseconds. */
const cancelGraceMs = 5000;
/** Restart delay after a scan process died, milliseconds; doubled with each further death. */
const backoffMs = 250;
const backoffDoublings = 6;

/** A run of a claimed scan. */
interface Run extends ScanPlacing {
  slot: ScanSlot;
  scan: Scan;
  request: ScanRequest;
  /** Start of the first run, ISO 8601 UTC. */
  startedAt: string;
  /** Earlier runs of the scan. */
  resumes: number;
}

/** Runs a claimed scan: resumes it and continues to its end, or until it returns to the queue. */
export class ScanRunner {
  readonly #context: PoolContext;
  readonly #ends: ScanEnds;
  readonly #blackout: Blackout;
  readonly #rates: RateSharing;
  readonly processes: WarmProcesses;
  /** A sharded scan ends in a process of this server. */
  readonly #lastSteps: Slots;

  constructor(context: PoolContext, ends: ScanEnds, blackout: Blackout, rates: RateSharing) {
    this.#context = context;
    this.processes = processesOf(context);
    this.#ends = ends;
    this.#blackout = blackout;
    this.#rates = rates;
    this.#lastSteps = new Slots(context.config.server.workers);
  }

  async run(slot: ScanSlot): Promise<void> {
    const { store, queue } = this.#context;
    const [scan, submitted] = await Promise.all([
      store.scans.get(slot.scanId),
      store.scans.forWorker(slot.scanId),
    ]);
    if (!scan || !submitted || isFinal(scan.status)) {
      await queue.complete(slot.scanId, slot.attempt);
      return;
    }
    const { request, origin } = submitted;
    slot.origin = origin;
    slot.notifies = scan.notifications.length > 0;
    const placing = await placeScan(this.#context, slot, scan);
    if (placing === null) return await this.#release(slot);
    slot.isDivided = placing.isDivided;
    await this.#runPlaced(slot, scan, request, placing).finally(() => placing.place?.release());
  }

  async #runPlaced(slot: ScanSlot, scan: Scan, request: ScanRequest, placing: ScanPlacing): Promise<void> {
    const stalled = scan.started_at === null ? 0 : await this.#prepareResume(slot, scan);
    if (stalled === null) return;
    const resumes = scan.started_at === null ? 0 : scan.progress.resumes + 1;
    const startedAt = scan.started_at ?? new Date().toISOString();
    await this.#runProcess({ slot, scan, request, startedAt, resumes, ...placing });
    await this.#end(slot, stalled);
  }

  /** @returns resumes in a row without progress, including this one; null if the scan has ended */
  async #prepareResume(slot: ScanSlot, scan: Scan): Promise<number | null> {
    const folder = folderOf(this.#context, slot);
    const record = await openRecord(folder);
    const { rows, finished } = record;
    await record.close();
    if (finished) {
      await this.#ends.conclude(slot);
      return null;
    }
    const reached = rows + (await checkpointProgress(folder));
    const mark = nextResumeMark(await readResumeMark(folder), reached);
    if (mark.stalled > this.#context.config.scanner.max_resumes) {
      const tries = `${scan.progress.resumes + 1} times`;
      const message = `The process of the scan ended ${tries}, the last ${mark.stalled} without new progress.`;
      await this.#ends.interrupt(slot, { code: 'interrupted', message });
      return null;
    }
    await writeResumeMark(folder, mark);
    return mark.stalled;
  }

  async #runProcess(run: Run): Promise<void> {
    const { store, queue, stopping } = this.#context;
    const { slot, scan, request, startedAt, isDivided } = run;
    // A sharded scan starts when a worker starts its first shard.
    const waits = isDivided && scan.started_at === null;
    const known = await (waits
      ? store.scans.update(scan.scan_id, { status: 'pending' })
      : this.#storeBegin(run, startedAt));
    if (!known) {
      slot.leaseLost = true;
      const { status } = (await store.scans.get(scan.scan_id)) ?? { status: 'failed' };
      // It just ended or was deleted, and that was already reported; or the server that had it before has just begun it.
      if (isFinal(status)) await queue.complete(scan.scan_id, slot.attempt);
      else await this.#release(slot);
      return;
    }
    // Read after the scan has its slot: this sees an earlier pause, a later one finds the slot.
    const { paused, pausedMs } = await store.scanPauses.pauseOf(scan.scan_id, Date.now());
    slot.paused = paused;
    slot.pauseMark = paused ? await store.scanPauses.markOf(scan.scan_id) : null;
    slot.requestedRate = ceilingOf(request.rate, this.#context.config.scanner.max_rate);
    if (stopping.aborted || slot.canceled) return;
    const input = await this.#processInput(run, pausedMs);
    const shared = await this.#takeProcess(run);
    if (!stopping.aborted && !slot.canceled) {
      slot.process = this.#launch(run, input, shared);
      if (!waits) this.#reportBegin(run);
      await slot.process.gone;
    }
    this.processes.giveBack(shared);
  }

  /** Null where the scan itself takes one for its last step, too. */
  async #takeProcess({ slot, request, isDivided }: Run): Promise<ServingProcess | null> {
    return isDivided ? null : await this.processes.takeFor(slot.tenant, request, slot.isSmall);
  }

  /** @returns false if the scan has ended or was deleted */
  async #storeBegin({ slot, scan, resumes }: Run, startedAt: string): Promise<boolean> {
    const { store, news } = this.#context;
    const begun = await store.scans.update(scan.scan_id, {
      status: 'running',
      started_at: startedAt,
      progress: { ...scan.progress, ...pauseProgress(slot), phase: 'starting', resumes, interrupted: false },
    });
    if (begun) news.emit(scan.scan_id);
    return begun;
  }

  #reportBegin({ slot, request, resumes }: Run): void {
    const { log, audit } = this.#context;
    const { process, tenant } = slot;
    log.info({ ...slotFields(slot), pid: process?.pid, resumes }, 'scan started');
    void audit.record(scanStarted(request, tenant, resumes));
    this.#rates.renew();
  }

  async #processInput(
    { slot, scan, request, startedAt, resumes }: Run,
    pausedMs: number,
  ): Promise<ScanProcessInput> {
    const { config, workspace, listeners, log, metrics, news, plugins, store } = this.#context;
    return {
      ...this.processes.settings,
      start: {
        type: 'start',
        request,
        config,
        workspaceDir: workspace.dir,
        tenant: slot.tenant,
        requestId: slot.origin.requestId,
        startedAt,
        resumes,
        rateHistory: scan.progress.rate_history ?? null,
        pausedMs,
        listeners: [...listeners],
        plugins: await plugins.place(request, store),
        part: null,
        names: {},
        evaluated: null,
      },
      graceMs: cancelGraceMs,
      isSmall: slot.isSmall,
      onNews: () => news.emit(scan.scan_id),
      onTraffic: (traffic) => metrics.countTraffic(traffic),
      onFault: (message) =>
        log.error({ ...slotFields(slot), fault: message }, 'scan process reported a fault'),
      onHang: (seconds) =>
        log.error(
          { ...slotFields(slot), pid: slot.process?.pid, silent_seconds: seconds },
          'scan process sends no heartbeat, killed',
        ),
    };
  }

  #launch(run: Run, process: ScanProcessInput, shared: ServingProcess | null): RunningScan {
    const { shards } = this.#context;
    const paused = run.slot.paused || this.#blackout.window !== null;
    if (shards !== null && run.isDivided) return this.#divide(run, shards, process, paused);
    const started =
      shards !== null && run.place !== null
        ? this.#launchUndivided(run, shards, run.place, process, shared)
        : new ScanProcess(process, shared);
    if (paused) void started.pause();
    return started;
  }

  #launchUndivided(
    { slot, storedRows }: Run,
    { home, line, presence }: Distribution,
    place: WorkerPlace,
    process: ScanProcessInput,
    shared: ServingProcess | null,
  ): RunningScan {
    const { store, standIn, log } = this.#context;
    const { scanId, attempt } = slot;
    const started = new UndividedScan({
      store,
      held: { scanId, attempt, owner: home },
      folder: folderOf(this.#context, slot),
      storedRows,
      process,
      shared,
      place,
      presence,
      leaseMs: line.leaseMs,
      onWarning: (err, message) => log.warn({ ...logReason(err), ...slotFields(slot) }, message),
    });
    if (standIn !== null) started.narrow(standIn.rules);
    return started;
  }

  #divide(run: Run, shards: Distribution, process: ScanProcessInput, paused: boolean): RunningScan {
    const { installed, store, log } = this.#context;
    const { slot, scan } = run;
    const begin: Pick<ShardedScanInput, 'startedAt' | 'storeBegin' | 'onBegin'> = {
      startedAt: scan.started_at,
      storeBegin: async (at) => void (await this.#storeBegin(run, at)),
      onBegin: () => this.#reportBegin(run),
    };
    return new ShardedScan({
      store,
      line: shards.line,
      folder: folderOf(this.#context, slot),
      lastSteps: this.#lastSteps,
      process,
      processes: this.processes,
      paused,
      ...begin,
      catalogue: installed.of(slot.tenant),
      onWarning: (err, message) => log.warn({ ...logReason(err), ...slotFields(slot) }, message),
    });
  }

  /** Called after the process has exited. @param stalled resumes in a row without progress */
  async #end(slot: ScanSlot, stalled: number): Promise<void> {
    const outcome = slot.process?.outcome;
    if (slot.leaseLost) return await this.#leaveToOwner(slot);
    if (outcome) return await this.#ends.store(slot, outcome);
    if (slot.canceled) return await this.#ends.interrupt(slot, canceledFailure);
    if (slot.process?.failure) return await this.#ends.interrupt(slot, slot.process.failure);
    await this.#requeue(slot, stalled);
  }

  /** Another server may have taken the scan over: what is here is a part of it. */
  async #leaveToOwner(slot: ScanSlot): Promise<void> {
    const { shards, store } = this.#context;
    const owner = shards && (await store.scans.ownerOf(slot.scanId));
    if (owner !== null && owner !== shards?.home) await folderOf(this.#context, slot).remove();
  }

  /** The server stops, or the process died: the scan later resumes from its checkpoint. */
  async #requeue(slot: ScanSlot, stalled: number): Promise<void> {
    const { log, stopping } = this.#context;
    const folder = folderOf(this.#context, slot);
    await storeProgress(this.#context, slot);
    // Workers on other machines go on with the shards of a scan.
    if (!slot.isDivided) await this.#markInterrupted(slot);
    if (stopping.aborted) {
      await writeResumeMark(folder, { ...(await readResumeMark(folder)), orderly: true });
    } else {
      log.warn({ ...slotFields(slot), stalled }, 'scan process died, resuming the scan');
      await this.#backOff(slot, backoffMs * 2 ** Math.min(stalled, backoffDoublings));
      if (slot.canceled) return await this.#ends.interrupt(slot, canceledFailure);
    }
    await this.#release(slot);
  }

  async #release(slot: ScanSlot): Promise<void> {
    slot.isLeaving = true;
    await this.#context.queue.release(slot.scanId, slot.attempt);
  }

  /** Until its next start no process runs the scan. */
  async #markInterrupted(slot: ScanSlot): Promise<void> {
    const { store, log, news } = this.#context;
    try {
      const scan = await store.scans.get(slot.scanId);
      if (scan?.status !== 'running') return;
      const progress = { ...scan.progress, ...notSending, rate_limit: 0, interrupted: true };
      await store.scans.update(slot.scanId, { progress, status: 'running' });
      news.emit(slot.scanId);
    } catch (err) {
      log.debug({ err, ...slotFields(slot) }, 'cannot store the interruption of a scan');
    }
  }

  /** Waits, unless the server stops or the scan is canceled. */
  async #backOff(slot: ScanSlot, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until && !this.#context.stopping.aborted && !slot.canceled) await sleep(50);
  }
}

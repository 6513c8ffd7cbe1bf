import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { ScanFailure } from '../../scan-run/finalize/failure.ts';
import { concludeScan } from '../../scan-run/finalize/finalize-scan.ts';
import { type EndContext, interruptScan } from '../../scan-run/finalize/interrupt-scan.ts';
import type { ScanOutcome } from '../../scan-run/messages.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import type { HeldScan } from '../../store/undivided-results.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { scanCompleted } from '../logging/audit.ts';
import { removeShards } from '../shards/gathered-rows.ts';
import { UndividedScan } from '../shards/undivided-scan.ts';
import { folderOf, type PoolContext } from './pool-context.ts';
import { removeResumeMark } from './resume-mark.ts';
import { type ScanSlot, slotFields } from './scan-slot.ts';
import { traceScan } from './trace-scan.ts';

/** A scan without a lease, such as one without a worker. */
type ScanKey = Pick<QueueClaim, 'scanId' | 'tenant'>;

/** Why scans end without results, and no alert is due: alerts count failed entries of the queue. */
const noFault: readonly string[] = ['canceled', 'no_targets'];

/** Pause before retrying to store the end of a scan, milliseconds. */
const storeAgainMs = 1000;

/** Stores the outcome of scans. A claim may get a new attempt meanwhile, so it is read at use. */
export class ScanEnds {
  readonly #context: PoolContext;

  constructor(context: PoolContext) {
    this.#context = context;
  }

  /** The process reported the end. Stores the end of a scan and of its job atomically. */
  async store(slot: ScanSlot, outcome: ScanOutcome): Promise<void> {
    const { log } = this.#context;
    const { scanId } = slot;
    const folder = folderOf(this.#context, slot);
    // A cancel just after completion has no effect; without a target nothing went wrong that alerts are for.
    const isDone = outcome.status === 'completed' || noFault.includes(outcome.error?.code ?? '');
    const jobState = isDone ? 'done' : 'failed';
    await removeResumeMark(folder);
    const { attempt } = slot;
    const run = { held: this.#heldBy(slot), isFirst: attempt === 1 };
    await this.#untilStored(slot, async () => {
      slot.isStored = await this.#context.endResults.end(slot, run, async (inside, files) => {
        // Another server has taken the scan over.
        slot.leaseLost = !(await inside.scanQueue.finish(slot, jobState, Date.now()));
        if (slot.leaseLost) return false;
        await inside.scans.update(scanId, outcome, files);
        if (slot.process instanceof UndividedScan && slot.process.hasStored)
          await inside.shardResults.deleteOf(scanId);
        return true;
      });
    });
    if (slot.leaseLost) return;
    slot.isCleared = slot.process instanceof UndividedScan;
    log.info({ ...slotFields(slot), status: outcome.status, error: outcome.error?.code }, 'scan ended');
    await this.report(slot);
  }

  #heldBy({ scanId, attempt }: ScanSlot): HeldScan | null {
    const { shards } = this.#context;
    return shards && { scanId, attempt, owner: shards.home };
  }

  /** The scan was canceled, or its process cannot continue. */
  async interrupt(slot: ScanSlot, error: ScanFailure): Promise<void> {
    const { store, log } = this.#context;
    await this.#untilStored(slot, () => this.finalize(slot, error));
    const state = error.code === 'canceled' ? 'done' : 'failed';
    await store.scanQueue.finish(slot, state, Date.now());
    await removeResumeMark(folderOf(this.#context, slot));
    log.info({ ...slotFields(slot), error: error.code }, 'scan ended');
    await this.report(slot);
  }

  /** Finalizes the record of a scan without a worker and stores the scan as failed. */
  async finalize({ scanId, tenant }: ScanKey, error: ScanFailure): Promise<void> {
    await interruptScan(this.#endContext(tenant), scanId, error);
  }

  /** The record is final, but the process died before it reported the end. */
  async conclude(claim: QueueClaim): Promise<void> {
    const { queue } = this.#context;
    const { scanId, tenant } = claim;
    await concludeScan(this.#endContext(tenant), scanId);
    await queue.complete(scanId, claim.attempt);
    await removeResumeMark(folderOf(this.#context, claim));
    await this.report(claim);
  }

  #endContext(tenant: string | null): EndContext {
    const { store, workspace, config, endResults } = this.#context;
    return { store, workspace: workspace.forTenant(tenant), config, endWith: endResults.endWith };
  }

  /** Counts an ended scan, audits it and sends its trace. */
  async report(key: ScanKey & Partial<Pick<ScanSlot, 'process'>>): Promise<void> {
    const { store, metrics, audit } = this.#context;
    const scan = await store.scans.get(key.scanId);
    if (!scan) return;
    const summary = await recordIn(folderOf(this.#context, key))
      .summary()
      .catch(() => null);
    metrics.scanEnded(scan, summary?.duration_seconds);
    await audit.record(scanCompleted(scan, key.tenant));
    await traceScan(this.#context, { ...scan, stages: this.#stagesOf(scan, key) });
  }

  /** The nodes that ran on this server: workers send those of shards in their own traces. */
  #stagesOf({ stages }: Scan, { process }: Partial<Pick<ScanSlot, 'process'>>): Scan['stages'] {
    return this.#context.shards === null ? stages : (process?.ownStages ?? []);
  }

  /** The record of an ended scan is complete; workers that still have a shard of it release it. */
  async removeShards(key: ScanKey & Partial<Pick<ScanSlot, 'isCleared'>>): Promise<void> {
    const { store, shards } = this.#context;
    if (!shards || key.isCleared) return;
    const { scanId } = key;
    const scan = await store.scans.get(scanId);
    if (scan && !isFinal(scan.status)) return;
    await store.shards.deleteOf(scanId);
    const folder = folderOf(this.#context, key);
    if (!scan || !(await removeShards(folder))) return;
    await store.scans.setSize(scanId, await folder.sizeBytes());
  }

  /** A full disk may get free space again; until then an ended scan keeps its slot and does not run a second time. */
  async #untilStored(slot: ScanSlot, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (err) {
        if (this.#context.stopping.aborted) throw err;
        if (tries === 1) {
          this.#context.log.error({ err, ...slotFields(slot) }, 'cannot store the end of a scan, retrying');
          if (await this.#madeRoom(err)) continue;
        }
        await sleep(storeAgainMs);
      }
    }
  }

  /** Deletes the disk reserve to store the end of a scan: the client need not wait for free space. */
  async #madeRoom(error: unknown): Promise<boolean> {
    if (!(error instanceof PortolanError && error.code === 'insufficient_storage')) return false;
    const { workspace, store } = this.#context;
    await workspace.giveUpReserve();
    try {
      await store.emptyLog();
    } catch {
      // The space of the reserve must suffice.
    }
    return true;
  }
}

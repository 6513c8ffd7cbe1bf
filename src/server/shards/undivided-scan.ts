import type { StageRecord } from '../../domain/scan.ts';
import type { ScopeRules } from '../../scan-run/control.ts';
import type { ScanFailure } from '../../scan-run/finalize/failure.ts';
import type { LiveScan, ScanOutcome } from '../../scan-run/messages.ts';
import type { Store } from '../../store/open.ts';
import type { HeldScan } from '../../store/undivided-results.ts';
import type { RunningScan } from '../../worker/running-scan.ts';
import { ScanProcess, type ScanProcessInput } from '../../worker/scan-process.ts';
import type { ServingProcess } from '../../worker/serving-process.ts';
import { ShardResults } from '../../worker/shard-results.ts';
import { ShardUpload } from '../../worker/shard-upload.ts';
import type { WorkerPlace } from '../../worker/worker-place.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Presence } from './presence.ts';

/** Upload interval, milliseconds: most small scans have ended before, and are stored once, at their end. */
const uploadMs = 500;

export interface UndividedScanInput {
  store: Store;
  held: HeldScan;
  folder: ScanFolder;
  /** Rows that the database has of an earlier run: the first ones of the record. */
  storedRows: number;
  process: ScanProcessInput;
  /** Runs the scan; null = it has a process of its own. */
  shared: ServingProcess | null;
  place: WorkerPlace;
  presence: Pick<Presence, 'keepsScansUntil' | 'onSigned'>;
  leaseMs: number;
  onWarning: (error: unknown, message: string) => void;
}

/**
 * A small scan that its server runs undivided, as a server alone does: one process scans, evaluates and reports. While it runs its
 * rows and checkpoint are stored like those of a shard, so that another server can resume it where this one was.
 */
export class UndividedScan implements RunningScan {
  readonly startedAt: string;
  readonly gone: Promise<void>;
  readonly #process: ScanProcess;
  readonly #upload: ShardUpload;
  readonly #place: WorkerPlace;
  readonly #killed = new AbortController();

  constructor(input: UndividedScanInput) {
    const { store, held, folder, process, place, presence, leaseMs, onWarning } = input;
    this.startedAt = process.start.startedAt;
    this.#place = place;
    this.#process = new ScanProcess(process, input.shared);
    place.applyRate = (rate) => this.#process.setRate(rate);
    const renew = () => {
      const until = presence.keepsScansUntil(leaseMs);
      if (until !== null) this.#process.renewLease(until);
    };
    renew();
    const forget = presence.onSigned(renew);
    this.#upload = new ShardUpload({
      folder,
      results: ShardResults.ofUndivided(store, held),
      sent: input.storedRows,
      everyMs: uploadMs,
      onTrouble: (error) => onWarning(error, 'storing results of the scan failed, retrying'),
      onStored: process.onNews,
    });
    this.gone = this.#process.gone.then(async () => {
      forget();
      place.release();
      await this.#upload.stop();
      // The end of a scan stores all of it. Else whoever resumes it continues here.
      if (this.outcome === null) await this.#upload.finish(this.#killed.signal);
    });
  }

  get live(): LiveScan | null {
    return this.#process.live;
  }

  get failure(): ScanFailure | null {
    return this.#process.failure;
  }

  get hangs(): boolean {
    return this.#process.hangs;
  }

  get outcome(): ScanOutcome | null {
    return this.#process.outcome;
  }

  get ownStages(): StageRecord[] {
    return this.outcome?.stages ?? [];
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** A server that takes over may find other rows in another order. */
  get storedRows(): number {
    return this.#upload.stored;
  }

  get hasStored(): boolean {
    return this.#upload.hasStored;
  }

  cancel(): void {
    this.#process.cancel();
  }

  async pause(): Promise<void> {
    await this.#process.pause();
  }

  resume(): void {
    this.#process.resume();
  }

  async setRate(rate: number): Promise<void> {
    await this.#place.grant(rate);
  }

  narrow(rules: ScopeRules): void {
    this.#process.narrow(rules);
  }

  detach(): void {
    this.#process.detach();
  }

  kill(): void {
    this.#killed.abort();
    this.#process.kill();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/schema.ts';
import { AuditChain } from './audit-chain.ts';
import type { AuditPosition } from './audit-files.ts';
import { type AuditEvent, type AuditGap, gapRecord, gapText, recordText } from './audit-record.ts';

export interface AuditLogInput {
  /** `audit/` of the workspace. */
  folder: string;
  /** Read for every record: a reload changes it in place. */
  settings: Config['logging']['audit'];
  onFault: (message: string, error: unknown) => void;
  onRecovery: (message: string) => void;
  /** Called for missing records: removed ones, or those that waited in a process that died. */
  onGap: (message: string) => void;
}

/** Maximum number of waiting records while the log is not writable; beyond, new ones are lost and counted. */
const maxWaiting = 10_000;
/** Maximum number of records per write. */
const maxBatch = 500;
/** Maximum wait for another process that appends, milliseconds. */
const lockWaitMs = 2000;
const lockPollMs = 5;
/** Retry interval after a failed write, milliseconds. */
const retryMs = 1000;
/** Maximum delay until appended records are synced to disk, milliseconds. */
const syncMs = 1000;

/**
 * The audit log (JSON Lines). Recording never fails and never blocks the recorded work: while the disk is full
 * records wait, `fault` reports it, and writes are retried every second.
 */
export class AuditLog {
  readonly #input: AuditLogInput;
  #chain: AuditChain;
  #file: string;
  #waiting: string[] = [];
  #lost = 0;
  #fault: string | null = null;
  #gap: string | null = null;
  /** Whether the log was compared with its head, as every append does. */
  #checked = true;
  #flushing: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #syncer: NodeJS.Timeout | null = null;

  constructor(input: AuditLogInput) {
    this.#input = input;
    this.#file = input.settings.file;
    this.#chain = this.#newChain();
  }

  /** Why the log is not writable now, or null. */
  get fault(): string | null {
    return this.#fault;
  }

  /** What is missing since the start of this process, or null. */
  get gap(): string | null {
    return this.#gap;
  }

  /** Compares the log with its head; a gap record reports what is missing. Never rejects. */
  async check(): Promise<void> {
    if (!this.#input.settings.enabled) return;
    this.#checked = false;
    await this.#flush();
  }

  /** Resolves when the record is in the log and survives the exit of the process, or must wait. Never rejects. */
  async record(event: AuditEvent): Promise<void> {
    const { enabled, events } = this.#input.settings;
    if (!enabled || !events.includes(event.event)) return;
    if (this.#waiting.length >= maxWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(recordText(event, new Date()));
    // While the log has a fault, the retry writes; nothing waits for it.
    if (this.#retry === null) await this.#flush();
    else this.#noteWaiting();
  }

  /** Writes waiting records and makes them survive a power failure. */
  async close(): Promise<void> {
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    if (this.#syncer) clearTimeout(this.#syncer);
    await this.#flush();
    if (this.#retry) clearTimeout(this.#retry);
    await this.#chain.sync().catch(() => undefined);
    this.#chain.close();
  }

  /** One write for all records of a moment. */
  #flush(): Promise<void> {
    this.#flushing ??= this.#flushSoon().then(() => {
      this.#flushing = null;
      // More may have arrived since the last check.
      return this.#waiting.length > 0 && this.#retry === null ? this.#flush() : undefined;
    });
    return this.#flushing;
  }

  async #flushSoon(): Promise<void> {
    await new Promise(setImmediate);
    try {
      this.#follow();
      while (this.#waiting.length > 0 || !this.#checked) {
        const batch = this.#waiting.slice(0, maxBatch);
        await this.#append(batch);
        this.#checked = true;
        this.#waiting.splice(0, batch.length);
        this.#recordLost();
      }
      this.#recovered();
      this.#syncer ??= setTimeout(() => this.#sync(), syncMs).unref();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** A reload may have named another file. */
  #follow(): void {
    const { file } = this.#input.settings;
    if (file === this.#file) return;
    this.#chain.close();
    this.#file = file;
    this.#chain = this.#newChain();
  }

  async #append(batch: readonly string[]): Promise<void> {
    const until = performance.now() + lockWaitMs;
    while (!this.#chain.append(batch)) {
      if (performance.now() > until) throw new Error('another process has locked it');
      await sleep(lockPollMs);
    }
  }

  /** Counts records beyond the maximum. */
  #recordLost(): void {
    if (this.#lost === 0 || this.#waiting.length > 0) return;
    const gap: AuditGap = { reason: 'not_written', records: this.#lost };
    this.#lost = 0;
    this.#waiting.push(gapRecord(gap, new Date()));
    this.#found(gap);
  }

  #found(gap: AuditGap): void {
    this.#gap = `the audit log has a gap: ${gapText(gap)}`;
    this.#input.onGap(this.#gap);
  }

  /** Reports the waiting records as missing if this process dies. */
  #noteWaiting(): void {
    try {
      this.#chain.noteWaiting(this.#waiting.length + this.#lost);
    } catch {
      // The disk rejects even writes in place.
    }
  }

  #sync(): void {
    this.#syncer = null;
    this.#chain.sync().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (this.#fault === null) {
      this.#fault = `cannot write the audit log: ${code ?? message}`;
      this.#input.onFault(this.#fault, error);
    }
    this.#noteWaiting();
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      void this.#flush();
    }, retryMs).unref();
  }

  #recovered(): void {
    if (this.#fault === null) return;
    this.#fault = null;
    this.#noteWaiting();
    this.#input.onRecovery('the audit log is writable again');
  }

  #newChain(): AuditChain {
    return new AuditChain(positionOf(this.#input.folder, this.#input.settings), {
      onRepair: (path, bytes) =>
        this.#input.onRecovery(`removed ${bytes} bytes of an incomplete record from the end of ${path}`),
      onGap: (gap) => this.#found(gap),
    });
  }
}

export function positionOf(folder: string, { file }: { file: string }): AuditPosition {
  return { folder, file: file || null };
}

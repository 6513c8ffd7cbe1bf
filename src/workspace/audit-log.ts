import { setTimeout as sleep } from 'node:timers/promises';
import type { auditEvents, Config } from '../config/schema.ts';
import { withoutTokens } from '../domain/secret-text.ts';
import { AuditChain, type AuditPlace, maxAuditLine } from './audit-chain.ts';

export type AuditEventName = (typeof auditEvents)[number];

/** What happened; the log adds the time and the chain. */
export interface AuditEvent {
  event: AuditEventName;
  /** `denied`: refused as it was asked for; `error`: the service could not do it. */
  outcome: 'allowed' | 'denied' | 'error';
  actor: AuditActor;
  tenant: string | null;
  /** Null for what no request of the API asked for. */
  request: AuditRequest | null;
  resource: { type: string; id: string | null } | null;
  details: Record<string, unknown>;
}

export interface AuditActor {
  /** `user`: somebody at the command line of this machine; `system`: the server itself. */
  type: 'token' | 'anonymous' | 'user' | 'system';
  id: string | null;
  name: string | null;
}

export interface AuditRequest {
  id: string;
  method: string;
  path: string;
  status: number;
  ip: string;
  user_agent: string | null;
  duration_ms: number;
}

export interface AuditLogInput {
  /** `audit/` of the workspace. */
  folder: string;
  /** Read anew for every record: a reload changes it in place. */
  settings: Config['logging']['audit'];
  onFault: (message: string, error: unknown) => void;
  onRecovery: (message: string) => void;
}

/** Records that wait while the log cannot be written; beyond, new ones are lost and counted. */
const maxWaiting = 10_000;
/** Records in one write. */
const maxBatch = 500;
/** The longest wait for another process that appends. */
const lockWaitMs = 2000;
const lockPollMs = 5;
/** A log that could not be written is tried again after this time. */
const retryMs = 1000;
/** What was appended reaches the disk within this time, so that a power cut costs no more. */
const syncMs = 1000;

/** Raw control and format characters beyond ASCII, which JSON leaves as they are. */
const unsafe = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The audit log (JSON Lines). Recording never fails and never stops the work that is recorded: while the disk is full
 * records wait, `fault` says so, and the log is tried again every second.
 */
export class AuditLog {
  readonly #input: AuditLogInput;
  #chain: AuditChain;
  #file: string;
  #waiting: string[] = [];
  #lost = 0;
  #fault: string | null = null;
  #flushing: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #syncer: NodeJS.Timeout | null = null;

  constructor(input: AuditLogInput) {
    this.#input = input;
    this.#file = input.settings.file;
    this.#chain = this.#newChain();
  }

  /** Why the log is not written at the moment, or null. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Resolves when the record is in the log, survives the end of the process, or has to wait. Never rejects. */
  async record(event: AuditEvent): Promise<void> {
    const { enabled, events } = this.#input.settings;
    if (!enabled || !events.includes(event.event)) return;
    if (this.#waiting.length >= maxWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(recordText(event, new Date()));
    // While the log has a fault, the retry writes; nobody waits for it.
    if (this.#retry === null) await this.#flush();
  }

  /** Writes what waits and makes it survive a power cut. */
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
      // Something may have come after the last look.
      return this.#waiting.length > 0 && this.#retry === null ? this.#flush() : undefined;
    });
    return this.#flushing;
  }

  async #flushSoon(): Promise<void> {
    await new Promise(setImmediate);
    try {
      this.#follow();
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, maxBatch);
        await this.#append(batch);
        this.#waiting.splice(0, batch.length);
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
      if (performance.now() > until) throw new Error('another process holds it');
      await sleep(lockPollMs);
    }
  }

  #sync(): void {
    this.#syncer = null;
    this.#chain.sync().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (this.#fault === null) {
      this.#fault = `the audit log cannot be written: ${code ?? message}`;
      this.#input.onFault(this.#fault, error);
    }
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      void this.#flush();
    }, retryMs).unref();
  }

  #recovered(): void {
    if (this.#fault === null) return;
    this.#fault = null;
    const lost = this.#lost > 0 ? `; ${this.#lost} records were lost` : '';
    this.#lost = 0;
    this.#input.onRecovery(`the audit log is written again${lost}`);
  }

  #newChain(): AuditChain {
    return new AuditChain(placeOf(this.#input.folder, this.#input.settings), (path, bytes) => {
      this.#input.onRecovery(`${bytes} bytes of a torn record were removed from the end of ${path}`);
    });
  }
}

export function placeOf(folder: string, { file }: { file: string }): AuditPlace {
  return { folder, file: file || null };
}

function recordText(event: AuditEvent, now: Date): string {
  const { event: name, outcome, actor, tenant, request, resource, details } = event;
  const whole = {
    timestamp: now.toISOString(),
    event: name,
    outcome,
    actor,
    tenant,
    request,
    resource,
    details,
  };
  const text = safeText(whole);
  // Chain and line feed come on top.
  return Buffer.byteLength(text) <= maxAuditLine - 1024
    ? text
    : safeText({ ...whole, details: { cut: true } });
}

function safeText(value: unknown): string {
  return withoutTokens(JSON.stringify(value)).replace(unsafe, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

import { setTimeout as sleep } from 'node:timers/promises';
import { channelType, noteTry, type TriedMessage, tryMessage } from '../../actions/scans/notify-scan.ts';
import { scanPage } from '../../config/public-url.ts';
import type { Config } from '../../config/schema.ts';
import type { NotificationState } from '../../domain/scan.ts';
import { isDeadCommandLine } from '../../scan-run/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import type { PendingNotification } from '../../store/outbox.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';

export interface NotifierInput {
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  config: Pick<Config, 'notifications' | 'server'>;
  log: ServerLog;
  /** Told of every message that was delivered, skipped or given up. */
  onEnd?: (type: string, status: NotificationState['status']) => void;
  /** Of one try; 10 s when not given. */
  timeoutMs?: number;
  delaysMs?: readonly number[];
}

/** Messages that are sent at the same time, and how many of them to one receiver. */
const maxSending = 8;
const maxSendingEach = 2;
/** What is owed is looked at this often even when nobody says that a scan has ended. */
const pollMs = 2000;
/** Messages that one look takes from the store. */
const maxLooked = 1000;
/** Pause before the outcome of a try, which could not be stored, is stored once more. */
const storeAgainMs = 1000;
/** A stop waits so long for tries that are under way. */
const closeMs = 250;

/**
 * Sends what the store says is owed about ended scans, beside everything else: no scan waits for it. A try that was
 * under way when the server died or stopped is made again by the next one.
 */
export class Notifier {
  readonly #input: NotifierInput;
  readonly #closing = new AbortController();
  readonly #sending = new Map<string, { receiver: string; ended: Promise<void> }>();
  /** Receivers whose last message failed. */
  readonly #failing = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #lookAgain = false;
  #started = false;
  #storeFault = false;

  constructor(input: NotifierInput) {
    this.#input = input;
  }

  /** Kinds of channels whose last message could not be sent. */
  get failing(): string[] {
    return [...new Set([...this.#failing].map((channel) => channelType({ channel })))].sort();
  }

  /** Takes over what command lines left behind that are gone, and begins. */
  async start(): Promise<void> {
    const { outbox, executor } = this.#input.store;
    for (const owner of await outbox.owners()) {
      if (isDeadCommandLine(owner, executor)) await outbox.handOver(owner, executor);
    }
    this.#started = true;
    this.#timer = setInterval(() => this.wake(), pollMs);
    this.wake();
  }

  /** Something may be owed. */
  wake(): void {
    if (!this.#started || this.#closing.signal.aborted) return;
    this.#lookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      if (this.#lookAgain) this.wake();
    });
  }

  /** Other receivers: what is known of the old ones says nothing. */
  forgetFailures(): void {
    this.#failing.clear();
  }

  /** Gives tries under way a moment; what is still owed then waits for the next start. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#started = false;
    await this.#looking;
    const ended = Promise.all([...this.#sending.values()].map((sending) => sending.ended));
    const late = setTimeout(() => this.#closing.abort(), closeMs);
    await ended;
    clearTimeout(late);
    this.#closing.abort();
  }

  async #look(): Promise<void> {
    try {
      while (this.#lookAgain && this.#started) {
        this.#lookAgain = false;
        const due = await this.#input.store.outbox.due(this.#input.store.executor, Date.now(), maxLooked);
        for (const owed of due) if (this.#hasRoom(owed)) this.#begin(owed);
        this.#storeFault = false;
      }
    } catch (err) {
      if (!this.#storeFault) this.#input.log.error({ err }, 'it cannot be read who is to be notified');
      this.#storeFault = true;
    }
  }

  #hasRoom({ id, channel }: PendingNotification): boolean {
    if (this.#sending.has(id) || this.#sending.size >= maxSending) return false;
    const receiver = receiverOf(channel);
    return [...this.#sending.values()].filter((one) => one.receiver === receiver).length < maxSendingEach;
  }

  #begin(owed: PendingNotification): void {
    const ended = this.#send(owed)
      .catch((err: unknown) =>
        this.#input.log.error({ err, scan_id: owed.scan_id }, 'a notification came to nothing'),
      )
      .finally(() => {
        this.#sending.delete(owed.id);
        this.wake();
      });
    this.#sending.set(owed.id, { receiver: receiverOf(owed.channel), ended });
  }

  async #send(owed: PendingNotification): Promise<void> {
    const { store, workspace, config, timeoutMs, delaysMs } = this.#input;
    const tried = await tryMessage(
      {
        store,
        workspace,
        settings: config.notifications,
        pageOf: (scanId) => scanPage(config.server, scanId),
        signal: this.#closing.signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(delaysMs && { delaysMs }),
      },
      owed,
    );
    if (tried === null) return;
    // Before the detail of the scan shows it, so that nobody sees a failure there and good health here.
    this.#judge(tried.state);
    await this.#untilNoted(owed, tried);
    this.#tell(owed, tried);
    if (tried.againMs !== null) setTimeout(() => this.wake(), tried.againMs).unref();
  }

  /** A message that was sent is not sent once more because the disk is full. */
  async #untilNoted(owed: PendingNotification, tried: TriedMessage): Promise<void> {
    const { signal } = this.#closing;
    for (let tries = 1; ; tries++) {
      try {
        return await noteTry(this.#input, owed, tried);
      } catch (err) {
        if (signal.aborted) throw err;
        if (tries === 1)
          this.#input.log.error({ err, scan_id: owed.scan_id }, 'a notification cannot be noted yet');
        await sleep(storeAgainMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #judge({ channel, status }: NotificationState): void {
    if (status === 'delivered') this.#failing.delete(receiverOf(channel));
    if (status === 'failed') this.#failing.add(receiverOf(channel));
  }

  #tell({ scan_id, channel }: PendingNotification, { state, againMs }: TriedMessage): void {
    const { log, onEnd } = this.#input;
    const { status, attempts, error } = state;
    const facts = { scan_id, channel, attempts, error };
    if (againMs === null) onEnd?.(channelType(state), status);
    if (status === 'failed') log.warn(facts, 'notification given up');
    else if (status === 'pending') log.warn(facts, 'notification failed; it is tried again');
    else log.info(facts, `notification ${status}`);
  }
}

/** What answers: one Slack webhook, one mail server, each webhook by itself. */
function receiverOf(channel: string): string {
  return channelType({ channel }) === 'webhook' ? channel : `${channelType({ channel })}://`;
}

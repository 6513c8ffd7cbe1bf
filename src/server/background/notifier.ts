import { setTimeout as sleep } from 'node:timers/promises';
import {
  channelType,
  noteTry,
  type TriedMessage,
  tryMessage,
} from '../../actions/notifications/notify-scan.ts';
import {
  StoredHighlights,
  type StoredHighlightsInput,
} from '../../actions/notifications/stored-highlights.ts';
import { scanPage } from '../../config/public-url.ts';
import type { Config } from '../../config/schema.ts';
import { receiverOf } from '../../domain/channel.ts';
import type { NotificationState } from '../../domain/scan.ts';
import { type ScanLogFields, scanLogFields } from '../../domain/scan-origin.ts';
import { maxDue, type NotificationQueue } from '../../queue/notification-queue.ts';
import { isDeadCommandLine } from '../../scan-run/finalize/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import type { PendingNotification } from '../../store/outbox.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';

export interface NotifierInput {
  /** Of all tenants. */
  store: Store;
  queue: NotificationQueue;
  /** Of all tenants. */
  workspace: Workspace;
  config: Config;
  catalogueOf: StoredHighlightsInput['catalogueOf'];
  holdRecord: StoredHighlightsInput['holdRecord'];
  log: ServerLog;
  /** Called for every message that was delivered, skipped or dropped. */
  onEnd?: (type: string, status: NotificationState['status']) => void;
  /** Timeout of an attempt, milliseconds; 10 s by default. */
  timeoutMs?: number;
  delaysMs?: readonly number[];
}

/**
 * Maximum number of concurrent messages. One message per receiver is always sent: receivers that hang do not delay
 * others, however many they are.
 */
const maxSending = 8;
/** Maximum number of concurrent messages per receiver. */
const maxSendingEach = 2;
/** Poll interval of pending notifications in case the end of a scan is missed, milliseconds. */
const pollMs = 2000;
/** Pause before retrying to store the outcome of an attempt, milliseconds. */
const storeAgainMs = 1000;
/** How long a stop waits for running attempts, milliseconds. */
const closeMs = 250;

/**
 * Sends pending notifications in the background. An attempt interrupted by a crash or stop of the server
 * is repeated at the next start.
 */
export class Notifier {
  readonly #input: NotifierInput;
  readonly #closing = new AbortController();
  readonly #highlights: StoredHighlights;
  /** By id. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Receivers whose last message failed. */
  readonly #failing = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #lookAgain = false;
  #started = false;
  #storeFault = false;

  constructor(input: NotifierInput) {
    this.#input = input;
    const { log } = input;
    const onFault = (err: unknown, scan_id: string) =>
      log.warn({ err, scan_id }, 'cannot read the findings for a notification');
    this.#highlights = new StoredHighlights({ ...input, onFault }, this.#closing.signal);
  }

  /** Types of channels whose last message failed. */
  get failing(): string[] {
    return [...new Set([...this.#failing].map((channel) => channelType({ channel })))].sort();
  }

  /** Takes over pending notifications of exited command lines, then starts. */
  async start(): Promise<void> {
    const { outbox, executor } = this.#input.store;
    for (const owner of await outbox.owners()) {
      if (isDeadCommandLine(owner, executor)) await outbox.handOver(owner, executor);
    }
    await this.#input.queue.open();
    this.#started = true;
    this.#timer = setInterval(() => this.wake(), pollMs);
    this.wake();
  }

  /** Polls now. */
  wake(): void {
    if (!this.#started || this.#closing.signal.aborted) return;
    this.#lookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      if (this.#lookAgain) this.wake();
    });
  }

  /** Resets failure states: the receivers have changed. */
  forgetFailures(): void {
    this.#failing.clear();
  }

  /** Waits briefly for running attempts; the rest stays pending until the next start. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#started = false;
    await this.#looking;
    const ended = Promise.all(this.#sending.values());
    const late = setTimeout(() => this.#closing.abort(), closeMs);
    await ended;
    clearTimeout(late);
    this.#closing.abort();
    this.#input.queue.close();
  }

  async #look(): Promise<void> {
    try {
      while (this.#lookAgain && this.#started) {
        this.#lookAgain = false;
        while (await this.#beginDue());
        this.#storeFault = false;
      }
    } catch (err) {
      if (!this.#storeFault) this.#input.log.error({ err }, 'cannot read pending notifications');
      this.#storeFault = true;
    }
  }

  /** Starts sending due messages, up to the limits. @returns whether there were any */
  async #beginDue(): Promise<boolean> {
    const room = maxSending - this.#sending.size;
    const due =
      room > 0
        ? await this.#input.queue.claim(room, maxSendingEach)
        : await this.#input.queue.claim(maxDue, 1);
    for (const notification of due) this.#begin(notification);
    return due.length > 0;
  }

  #begin(notification: PendingNotification): void {
    const { log, queue } = this.#input;
    const failed = (err: unknown) =>
      log.error({ err, ...subjectOf(notification) }, 'sending a notification failed');
    const sending = this.#send(notification)
      .catch((err: unknown) => {
        failed(err);
        return false;
      })
      .then((isEnded) => queue.release(notification, isEnded))
      .catch(failed)
      .finally(() => {
        this.#sending.delete(notification.id);
        this.wake();
      });
    this.#sending.set(notification.id, sending);
  }

  /** @returns whether the outcome is stored */
  async #send(notification: PendingNotification): Promise<boolean> {
    const { store, workspace, config, timeoutMs, delaysMs } = this.#input;
    const tried = await tryMessage(
      {
        store,
        workspace,
        settings: config.notifications,
        highlights: this.#highlights,
        pageOf: (scanId) => scanPage(config.server, scanId),
        signal: this.#closing.signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(delaysMs && { delaysMs }),
      },
      notification,
    );
    if (tried === null) return false;
    // Before the scan detail shows it, so that health never contradicts it.
    this.#judge(tried.state);
    if (!(await this.#untilNoted(notification, tried))) return true;
    this.#tell(notification, tried);
    if (tried.againMs !== null) setTimeout(() => this.wake(), tried.againMs).unref();
    return true;
  }

  /**
   * Keeps retrying to store the outcome, so that a full disk does not cause a second delivery.
   * @returns false if another server has the notification by now
   */
  async #untilNoted(notification: PendingNotification, tried: TriedMessage): Promise<boolean> {
    const { signal } = this.#closing;
    for (let tries = 1; ; tries++) {
      try {
        return await noteTry(this.#input, this.#input.queue, notification, tried);
      } catch (err) {
        if (signal.aborted) throw err;
        if (tries === 1)
          this.#input.log.error(
            { err, ...subjectOf(notification) },
            'cannot store the outcome of a notification, retrying',
          );
        await sleep(storeAgainMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #judge({ channel, status }: NotificationState): void {
    if (status === 'delivered') this.#failing.delete(receiverOf(channel));
    if (status === 'failed') this.#failing.add(receiverOf(channel));
  }

  #tell(notification: PendingNotification, { state, againMs }: TriedMessage): void {
    const { log, onEnd } = this.#input;
    const { status, attempts, error } = state;
    const facts = { ...subjectOf(notification), channel: notification.channel, attempts, error };
    if (againMs === null) onEnd?.(channelType(state), status);
    if (status === 'failed') log.warn(facts, 'notification dropped');
    else if (status === 'pending') log.warn(facts, 'notification failed, retrying');
    else log.info(facts, `notification ${status}`);
  }
}

/** What a message is about, for the log. */
function subjectOf({
  scan_id,
  request_id,
  event,
}: PendingNotification): ScanLogFields | { event: string | null } {
  return scan_id === null ? { event } : scanLogFields(scan_id, request_id);
}

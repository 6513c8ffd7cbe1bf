import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseChannel } from '../../domain/channel.ts';
import type { NotificationState, Scan } from '../../domain/scan.ts';
import { deliver, type Tried } from '../../notify/deliver.ts';
import { scanReport } from '../../notify/scan-report.ts';
import { type NotificationQueue, updateOutbox } from '../../queue/notification-queue.ts';
import type { Store } from '../../store/open.ts';
import type { PendingNotification } from '../../store/outbox.ts';
import { readPlainText } from '../../workspace/plain-file.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { chooseReport } from './choose-report.ts';
import { type NoticeContext, storedNotice } from './stored-notice.ts';

/** Delays between the attempts, milliseconds: one attempt more than delays. */
export const retryDelaysMs: readonly number[] = [2000, 8000];

export interface NotifyContext extends NoticeContext {
  store: Store;
  /** Of all tenants, or that of the scan. */
  workspace: Workspace;
  /** Aborts the current attempt; pending notifications stay pending. */
  signal: AbortSignal;
  /** Timeout of one attempt; default 10 s. */
  timeoutMs?: number;
  delaysMs?: readonly number[];
}

/** Result of an attempt. */
export interface TriedMessage {
  state: NotificationState;
  /** Milliseconds until the next attempt; null if there is none. */
  againMs: number | null;
}

/**
 * Attempts once to send a pending notification, without recording the outcome.
 * @returns null if the scan is gone, or if the signal left the outcome unknown
 */
export async function tryMessage(
  context: NotifyContext,
  notification: PendingNotification,
): Promise<TriedMessage | null> {
  const { settings, signal, timeoutMs, delaysMs = retryDelaysMs } = context;
  const notice = await storedNotice(context, notification).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (notice === null) return null;
  if ('unusable' in notice)
    return stateAfter(notification, { status: 'skipped', reason: notice.unusable }, delaysMs);
  const delivery = { ...notification, requestId: notification.request_id, notice };
  const tried = await deliver(settings, delivery, signal, timeoutMs);
  if (signal.aborted && tried.status === 'fault') return null;
  return stateAfter(notification, tried, delaysMs);
}

/**
 * Records the outcome of an attempt: in the outbox, and in the scan if it is about one; with the last notification of
 * the scan also in `status.json`, so that it has one writer.
 * @param queue null for a notification that this process sends itself, whatever others do
 * @returns false if another server has the notification by now
 */
export async function noteTry(
  { store, workspace }: Pick<NotifyContext, 'store' | 'workspace'>,
  queue: Pick<NotificationQueue, 'endAttempt'> | null,
  notification: PendingNotification,
  { state, againMs }: TriedMessage,
): Promise<boolean> {
  const { scan_id: scanId } = notification;
  const next = againMs === null ? null : { attempts: state.attempts, afterMs: againMs };
  const endAttempt = queue === null ? updateOutbox : queue.endAttempt.bind(queue);
  const noted = await store.transaction(async (inside) => {
    if ((await endAttempt(inside, notification, next)) === false) return false;
    if (scanId === null) return null;
    const scan = await inside.scans.get(scanId);
    if (scan === null) return null;
    const notifications = withState(scan.notifications, state);
    await inside.scans.update(scanId, { notifications });
    return notifications;
  });
  if (noted === false) return false;
  if (scanId === null || noted === null || noted.some(({ status }) => status === 'pending')) return true;
  const tenant = await store.scans.tenantOf(scanId);
  await noteInStatus(workspace.forTenant(tenant), scanId, noted);
  return true;
}

/**
 * Sends all pending notifications of a scan of this process, with all attempts. Never throws because of a receiver.
 * @returns the outcome of each notification; `pending` if the signal came first
 */
export async function notifyScan(context: NotifyContext, scanId: string): Promise<NotificationState[]> {
  const notification = await context.store.outbox.ofScan(scanId);
  return await Promise.all(notification.map((message) => sendUntilComplete(context, message)));
}

/** The same for a scan that is not stored, and so has no page. */
export async function notifyUnstoredScan(
  context: Omit<NotifyContext, 'store' | 'workspace' | 'pageOf'>,
  scan: Scan,
  channels: readonly string[],
  newId: () => string,
): Promise<NotificationState[]> {
  const { settings, highlights, signal, timeoutMs, delaysMs = retryDelaysMs } = context;
  return await Promise.all(
    channels.map(async (channel) => {
      const message = {
        id: newId(),
        scan_id: scan.scan_id,
        request_id: null,
        channel,
        attempts: 0,
        event: null,
        payload: null,
      };
      const details = await chooseReport(settings, highlights, scan, channel);
      return await untilComplete(message, signal, async (notification) => {
        const tried: Tried =
          'unusable' in details
            ? { status: 'skipped', reason: details.unusable }
            : await deliver(
                settings,
                { ...notification, notice: scanReport(scan, null, details) },
                signal,
                timeoutMs,
              );
        return stateAfter(notification, tried, delaysMs);
      });
    }),
  );
}

async function sendUntilComplete(
  context: NotifyContext,
  message: PendingNotification,
): Promise<NotificationState> {
  return await untilComplete(message, context.signal, async (notification) => {
    const tried = await tryMessage(context, notification);
    if (tried) await noteTry(context, null, notification, tried);
    return tried;
  });
}

async function untilComplete(
  message: PendingNotification,
  signal: AbortSignal,
  attempt: (notification: PendingNotification) => Promise<TriedMessage | null>,
): Promise<NotificationState> {
  let notification = message;
  let state: NotificationState = pending(notification);
  while (!signal.aborted) {
    const tried = await attempt(notification);
    if (tried === null) break;
    state = tried.state;
    if (tried.againMs === null) break;
    notification = { ...notification, attempts: state.attempts };
    await sleep(tried.againMs, undefined, { signal }).catch(() => undefined);
  }
  return state;
}

function pending({ channel, attempts }: PendingNotification): NotificationState {
  return { channel, status: 'pending', attempts, error: null };
}

function stateAfter(
  notification: PendingNotification,
  tried: Tried,
  delaysMs: readonly number[],
): TriedMessage {
  const { channel } = notification;
  const attempts = notification.attempts + 1;
  switch (tried.status) {
    case 'delivered':
      return { state: { channel, status: 'delivered', attempts, error: tried.remark }, againMs: null };
    case 'skipped':
      return {
        state: { channel, status: 'skipped', attempts: notification.attempts, error: tried.reason },
        againMs: null,
      };
    case 'fault': {
      const againMs = delaysMs[notification.attempts] ?? null;
      const status = againMs === null ? 'failed' : 'pending';
      return { state: { channel, status, attempts, error: tried.reason }, againMs };
    }
  }
}

function withState(states: readonly NotificationState[], state: NotificationState): NotificationState[] {
  return states.map((one) => (one.channel === state.channel ? state : one));
}

/** The store is authoritative: a missing or unwritable status file is not a failure. */
async function noteInStatus(
  workspace: Workspace,
  scanId: string,
  notifications: NotificationState[],
): Promise<void> {
  const folder = workspace.scan(scanId);
  try {
    const status = JSON.parse(await readPlainText(join(folder.path, 'status.json'))) as object;
    await folder.writeStatus({ ...status, notifications });
  } catch {
    // The scan may be deleted meanwhile, or the disk full.
  }
}

/** What metrics and logs may contain of a channel: never its name. */
export function channelType({ channel }: Pick<NotificationState, 'channel'>): string {
  return parseChannel(channel)?.type ?? 'unknown';
}

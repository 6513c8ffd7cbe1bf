import type { AlertNotice } from '../../notify/alert-notice.ts';
import type { NotificationSettings } from '../../notify/deliver.ts';
import type { Notice } from '../../notify/message.ts';
import { letsAlertsThrough } from '../../notify/rules.ts';
import { type ReportDetails, type ScanReport, scanReport } from '../../notify/scan-report.ts';
import type { Store } from '../../store/open.ts';
import type { PendingNotification } from '../../store/outbox.ts';
import { chooseReport } from './choose-report.ts';
import type { ScanHighlights } from './scan-highlights.ts';

export interface NoticeContext {
  store: Pick<Store, 'scans' | 'outbox'>;
  settings: NotificationSettings;
  highlights: ScanHighlights;
  /** URL of the page of a scan, for links; null without one. */
  pageOf: (scanId: string) => string | null;
}

/** Why a message is not sent, for people. */
interface Unusable {
  unusable: string;
}

/** What a pending notification says, or why it is not sent; null if its scan is gone. */
export async function storedNotice(
  context: NoticeContext,
  pending: PendingNotification,
): Promise<Notice | Unusable | null> {
  const { event, payload, channel } = pending;
  if (pending.scan_id !== null) return await storedReport(context, pending, pending.scan_id);
  // A newer version may have left events that this one does not know.
  if (event !== 'alert') return { unusable: 'this version does not know the event' };
  if (!letsAlertsThrough(context.settings, channel))
    return { unusable: 'no entry of notifications.rules sends alerts to this channel' };
  return alertOf(payload) ?? { unusable: 'the stored message is damaged' };
}

/** The first try decides what the report says; the others repeat it. */
async function storedReport(
  { store, settings, highlights, pageOf }: NoticeContext,
  { id, channel, payload }: PendingNotification,
  scanId: string,
): Promise<ScanReport | Unusable | null> {
  const scan = await store.scans.get(scanId);
  if (scan === null) return null;
  const decided = detailsOf(payload);
  if (decided) return scanReport(scan, pageOf(scanId), decided);
  const details = await chooseReport(settings, highlights, scan, channel);
  if ('unusable' in details) return details;
  await store.outbox.describe(id, details.event, details);
  return scanReport(scan, pageOf(scanId), details);
}

/** Null for a report that was not decided yet, or that cannot be read. */
function detailsOf(payload: string | null): ReportDetails | null {
  const found = parsed(payload) as Partial<ReportDetails> | null;
  const isWhole = typeof found?.event === 'string' && Array.isArray(found.worst_findings);
  return isWhole && found.changes !== undefined ? (found as ReportDetails) : null;
}

function parsed(payload: string | null): unknown {
  try {
    return JSON.parse(payload ?? 'null');
  } catch {
    return null;
  }
}

function alertOf(payload: string | null): AlertNotice | null {
  const found = parsed(payload);
  return isAlert(found) ? found : null;
}

function isAlert(found: unknown): found is AlertNotice {
  if (typeof found !== 'object' || found === null) return false;
  const { event, state, values, ...texts } = found as Record<keyof AlertNotice, unknown>;
  const areTexts = [texts.name, texts.condition, texts.message, texts.fired_at].every(
    (text) => typeof text === 'string',
  );
  const isState = state === 'firing' || state === 'resolved';
  return event === 'alert' && isState && areTexts && typeof values === 'object' && values !== null;
}

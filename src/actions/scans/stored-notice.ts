import type { AlertNotice } from '../../notify/alert-notice.ts';
import type { Notice } from '../../notify/message.ts';
import { scanReport } from '../../notify/scan-report.ts';
import type { Store } from '../../store/open.ts';
import type { PendingNotification } from '../../store/outbox.ts';

interface NoticeContext {
  store: Pick<Store, 'scans'>;
  /** URL of the page of a scan, for links; null without one. */
  pageOf: (scanId: string) => string | null;
}

/** What a pending notification says, or why it can say nothing; null if its scan is gone. */
export async function storedNotice(
  { store, pageOf }: NoticeContext,
  { scan_id, event, payload }: PendingNotification,
): Promise<Notice | { unusable: string } | null> {
  if (scan_id !== null) {
    const scan = await store.scans.get(scan_id);
    return scan && scanReport(scan, pageOf(scan_id));
  }
  // A newer version may have left events that this one does not know.
  if (event !== 'alert') return { unusable: 'this version does not know the event' };
  return alertOf(payload) ?? { unusable: 'the stored message is damaged' };
}

function alertOf(payload: string | null): AlertNotice | null {
  try {
    const found: unknown = JSON.parse(payload ?? 'null');
    return isAlert(found) ? found : null;
  } catch {
    return null;
  }
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

import { type AlertNotice, alertFacts, alertHeadline, alertPayload } from './alert-notice.ts';
import { reportFacts, reportHeadline, reportPayload, type ScanReport } from './scan-report.ts';
import { type TestNotice, testFacts } from './test-notice.ts';

/** Content of a message, for any channel. Its texts may be hostile: renderers neutralize them. */
export type Notice = ScanReport | AlertNotice | TestNotice;

/** A notice to send to a receiver. */
export interface OutgoingMessage {
  /** The same in every attempt, so that receivers can deduplicate. */
  id: string;
  notice: Notice;
  /** Of the request that submitted the scan. */
  requestId?: string | null;
}

/** One-line summary. */
export function headline(notice: Notice): string {
  switch (notice.event) {
    case 'alert':
      return alertHeadline(notice);
    case 'test':
      return notice.message;
    default:
      return reportHeadline(notice);
  }
}

/** Pairs of a name and a value, for people. @param shown maximum number of list entries */
export function facts(notice: Notice, shown: number): [name: string, value: string][] {
  switch (notice.event) {
    case 'alert':
      return alertFacts(notice, shown);
    case 'test':
      return testFacts(notice);
    default:
      return reportFacts(notice, shown);
  }
}

/** JSON for webhooks. @param shown maximum number of list entries */
export function payload(notice: Notice, shown: number): object {
  switch (notice.event) {
    case 'alert':
      return alertPayload(notice, shown);
    case 'test':
      return notice;
    default:
      return reportPayload(notice, shown);
  }
}

/** Page with details, and its link text; null without one. */
export function pageLink(notice: Notice): { url: string; text: string } | null {
  if (!('scan_id' in notice) || notice.url === null) return null;
  return { url: notice.url, text: `Scan ${notice.scan_id}` };
}

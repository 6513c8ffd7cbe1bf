import type { ScanStatus } from '../../../domain/scan.ts';
import { type ShownState, shownState } from '../../../domain/scan-state.ts';
import type { ReportFacts } from '../../report-facts.ts';
import type { PortSums } from '../report.ts';
import {
  capitalText,
  clockText,
  dateTimeText,
  numberText,
  percentText,
  secondsText,
} from '../report-text.ts';

/** How a scan ended, in words. */
export interface ScanState {
  /** `Completed`, `Canceled`, `Timed out`, `Failed`, `Running`, `Pending`, `Results lost`. */
  word: string;
  /** `The scan was canceled`; null if it reached its end. */
  clause: string | null;
}

const clauses: Record<Exclude<ShownState, 'completed'>, string> = {
  pending: 'The scan has not begun',
  running: 'The scan is not finished',
  paused: 'The scan is not finished',
  interrupted: 'The scan was interrupted',
  failed: 'The scan failed',
  canceled: 'The scan was canceled',
  'timed out': 'The scan ran out of time',
};

/** A scan that reached its end, but lost rows, counts as partial too. */
export function scanState({
  status,
  partial,
  failure,
  canceledBy,
  summary,
  warnings,
}: ReportFacts): ScanState {
  const code = failure?.code ?? (canceledBy === null ? null : 'canceled');
  const lost = summary.damaged === true || warnings.some((warning) => warning.code === 'record_damaged');
  const state = shownState({
    status: status === 'queued' ? 'pending' : code === null ? (status as ScanStatus) : 'failed',
    error: code === null ? null : { code },
  });
  if (state !== 'completed') return { word: capitalText(state), clause: clauses[state] };
  if (lost) return { word: 'Results lost', clause: 'A part of the results is lost' };
  if (partial) return { word: 'Incomplete', clause: 'The scan did not reach its end' };
  return { word: 'Completed', clause: null };
}

/** `The scan was canceled: 58 % of the ports were not tried, so more may be there.` */
export function partialSentence({ clause }: ScanState, ports: PortSums | null): string {
  if (ports !== null && ports.notTried > 0) {
    const share = percentText(ports.notTried, ports.planned);
    return `${clause}: ${share} of the ports were not tried, so more may be there.`;
  }
  return `${clause}, so more may be there.`;
}

/** Text of the banner; null for a scan that reached its end. */
export function partialText(facts: ReportFacts, state: ScanState, ports: PortSums | null): string | null {
  if (state.clause === null) return null;
  return [`${state.word}. Partial results.`, endText(facts, state), notTriedText(ports)]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** `Canceled at 14:18:02 UTC by token ops-laptop after 3 min 44 s.`, or why it failed. */
function endText(
  { completedAt, canceledBy, failure, summary, timestamp }: ReportFacts,
  state: ScanState,
): string {
  const after = secondsText(summary.duration_seconds);
  if (state.word === 'Canceled') {
    const at = completedAt === null ? '' : ` at ${clockText(completedAt)} UTC`;
    return `Canceled${at}${canceledBy === null ? '' : ` by ${canceledBy}`} after ${after}.`;
  }
  if (state.word === 'Running' || state.word === 'Pending')
    return `The report shows what was found until ${dateTimeText(timestamp)}.`;
  if (failure) return `${state.clause} after ${after}: ${failure.message.replace(/\.$/, '')}.`;
  if (state.word === 'Results lost') return 'What is missing here is not known to be absent.';
  return `It ended after ${after}.`;
}

function notTriedText(ports: PortSums | null): string {
  if (ports === null || ports.notTried === 0) return '';
  return `${numberText(ports.notTried)} of ${numberText(ports.planned)} ports were not tried.`;
}

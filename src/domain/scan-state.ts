/** The one word for the state of a scan, in terminals, pages, reports and messages. */
export const shownStates = [
  'pending',
  'running',
  'paused',
  'interrupted',
  'completed',
  'failed',
  'canceled',
  'timed out',
] as const;
export type ShownState = (typeof shownStates)[number];

interface StatedScan {
  status: 'pending' | 'running' | 'completed' | 'failed';
  error: { code: string } | null;
  progress?: { paused: boolean; interrupted?: boolean | undefined };
}

/** The status, or the more precise word for why it is so: interrupted is also a scan that nobody runs. */
export function shownState({ status, error, progress }: StatedScan): ShownState {
  if (error?.code === 'timeout') return 'timed out';
  if (error?.code === 'canceled' || error?.code === 'interrupted') return error.code;
  if (status !== 'running') return status;
  if (progress?.interrupted) return 'interrupted';
  return progress?.paused ? 'paused' : 'running';
}

/** `timed out: Ran longer than 1 s.`; of a failure with its code. */
export function stateWithReason(scan: Omit<StatedScan, 'error'> & { error: ScanFailure | null }): string {
  const state = shownState(scan);
  const { error } = scan;
  if (!error) return state;
  return state === 'failed' ? `failed (${error.code}): ${error.message}` : `${state}: ${error.message}`;
}

interface ScanFailure {
  code: string;
  message: string;
}

import { printable } from '../../terminal/draw/printable.ts';
import { note } from '../../terminal/output.ts';

/** The first Ctrl-C of a scan. */
export const stoppingText = 'stopping, results are kept (Ctrl-C again ends at once)';

/** The second one. @param scanId null if nothing is kept */
export function endedText(scanId: string | null): () => void {
  return () =>
    note(scanId === null ? 'ended; nothing is kept' : `ended; kept up to 1 s ago as ${printable(scanId)}`);
}

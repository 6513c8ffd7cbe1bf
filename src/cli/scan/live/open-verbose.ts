import type { GlobalFlags } from '../../terminal/globals.ts';
import type { ScanView } from './scan-view.ts';
import type { VerboseLines } from './verbose-lines.ts';

/** With -v: what a scan does, line by line. Null without. */
export async function openVerbose(
  { quiet, verbose = 0, verbosity = verbose }: GlobalFlags,
  view: Pick<ScanView, 'note'>,
  startedAt?: number,
): Promise<VerboseLines | null> {
  if (quiet || verbosity === 0) return null;
  const { VerboseLines } = await import('./verbose-lines.ts');
  return new VerboseLines((line) => view.note(line), {
    isVery: verbosity > 1,
    ...(startedAt !== undefined && { startedAt }),
  });
}

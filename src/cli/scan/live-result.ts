import type { Writable } from 'node:stream';
import { isLiveFormat, liveLines } from '../results/live/live-lines.ts';
import { LiveOutput } from '../results/live/live-output.ts';
import type { ScanView } from './live/scan-view.ts';
import type { ScanCommand } from './submission.ts';

/**
 * Writes the result to stdout while the scan runs, for the formats that allow it. A file is written at the end, as a
 * whole.
 * @param onGone called once when the reader of stdout has left
 * @returns null for other formats and destinations
 */
export function openLiveResult(
  { output: { file, format }, flags }: Pick<ScanCommand, 'output' | 'flags'>,
  view: ScanView,
  onGone: () => void,
): LiveOutput | null {
  if (file !== null || !isLiveFormat(format)) return null;
  // Whether a host has an open port shows at the end.
  if (flags.open && format === 'jsonl') return null;
  const { stdout } = process;
  stdout.once('error', onGone);
  return new LiveOutput(liveLines(format), {
    write: (text) => {
      if (isOpen(stdout)) view.aside(() => void stdout.write(text));
    },
    backlog: () => stdout.writableLength,
  });
}

function isOpen(stream: Writable): boolean {
  return stream.writable && !stream.destroyed;
}

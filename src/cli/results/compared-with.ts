import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { type OutputFormat, print, writeResult } from '../terminal/output.ts';

/** Told before the scan rather than after it. @throws PortolanError `conflict` */
export function checkBaseline({ scan_id, status }: Scan): void {
  if (isFinal(status)) return;
  throw new PortolanError('conflict', `--compare-with: the scan ${scan_id} is ${status}; it must have ended`);
}

/**
 * Prints what `--compare-with` asked for, behind the result: on stdout where that stays readable (behind text, or when
 * the result went to a file), else on stderr, so that a JSON or CSV result stays one document.
 */
export async function writeDiff(
  { file, format }: { file: string | null; format: OutputFormat },
  render: (format: string) => AsyncIterable<string>,
): Promise<void> {
  if (file !== null) return writeResult(null, render(format === 'json' ? 'json' : 'text'));
  if (format === 'text') {
    print('\n');
    return writeResult(null, render('text'));
  }
  for await (const text of render('text')) process.stderr.write(text);
}

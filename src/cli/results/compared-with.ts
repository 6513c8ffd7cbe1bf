import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { type OutputFormat, print, writeResult } from '../terminal/output.ts';

/** Checks the baseline before the scan rather than after it. @throws PortolanError `conflict` */
export function checkBaseline({ scan_id, status }: Scan): void {
  if (isFinal(status)) return;
  throw new PortolanError(
    'conflict',
    `--compare-with: the scan ${scan_id} is ${status}; it must be finished`,
  );
}

/**
 * Prints the comparison of `--compare-with` after the result: on stdout after text or when the result went to a file,
 * else on stderr, so that a JSON or CSV result stays one document.
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

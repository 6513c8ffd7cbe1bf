import type { ChangeList, Comparison } from '../../actions/results/compare-scans.ts';
import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { styleOf } from '../terminal/draw/style.ts';
import { type OutputFormat, print, writeResult } from '../terminal/output.ts';
import type { DiffView } from './diff-text.ts';

interface Output {
  file: string | null;
  format: OutputFormat;
}

/** Checks the baseline before the scan rather than after it. @throws PortolanError `conflict` */
export function checkBaseline({ scan_id, status }: Scan): void {
  if (isFinal(status)) return;
  throw new PortolanError(
    'conflict',
    `--compare-with: the scan ${scan_id} is ${status}; it must be finished`,
  );
}

/** Exit code of `--fail-on-change`. */
const changedExit = 8;

/** The lists that hold changes. What one of the scans could not have found is none. */
const changeLists: ChangeList[] = [
  'hosts.added',
  'hosts.removed',
  'ports.added',
  'ports.removed',
  'ports.changed',
  'vulnerabilities.new',
  'vulnerabilities.resolved',
];

/** Exit code of a comparison: 8 if something changed and `failOnChange`, else 0. */
export async function exitCodeOfChanges(
  { list }: Pick<Comparison, 'list'>,
  failOnChange: boolean,
): Promise<number> {
  if (!failOnChange) return 0;
  for (const name of changeLists) {
    for await (const _change of list(name)) return changedExit;
  }
  return 0;
}

/** How `--compare-with` shows changes where `writeDiff` prints them. */
export function viewOfChanges(output: Output, flags: { color: boolean }): DiffView {
  const stream = isBesideResult(output) ? process.stderr : process.stdout;
  return { style: styleOf(stream, flags), now: Date.now(), all: false };
}

/** Only a result for people is followed by the changes in the same stream. */
function isBesideResult({ file, format }: Output): boolean {
  return file === null && format !== 'text';
}

/**
 * Prints the comparison of `--compare-with` after the result: on stdout after text or when the result went to a file,
 * else on stderr, so that a JSON or CSV result stays one document.
 */
export async function writeDiff(
  output: Output,
  render: (format: string) => AsyncIterable<string>,
): Promise<void> {
  const { file, format } = output;
  if (file !== null) return writeResult(null, render(format === 'json' ? 'json' : 'text'));
  if (!isBesideResult(output)) {
    print('\n');
    return writeResult(null, render('text'));
  }
  for await (const text of render('text')) process.stderr.write(text);
}

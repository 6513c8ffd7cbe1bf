import { basename } from 'node:path';
import type { SentPlugin } from '../../actions/plugins/load-sent.ts';
import { readGraphText } from '../data/graph-text.ts';
import { usage } from '../terminal/failure.ts';

/** Plugins that a request of 2 MiB has room for, bytes: base64 takes a third more. */
const maxSentBytes = 1_400_000;

/** What of a submission means a graph: the name of an installed one, or the file itself. */
export async function graphNamed(
  dag: string,
): Promise<{ dag: string } | { graph: { file: string; text: string } }> {
  if (/^[\w-]+$/.test(dag)) return { dag };
  return { graph: { file: basename(dag), text: await readGraphText(dag) } };
}

/** Files of `--plugin`, as a server takes them along with a scan. @throws PortolanError `usage`, `not_found` */
export async function sentPlugins(files: readonly string[]): Promise<SentPlugin[]> {
  const { readPackageFile } = await import('../../actions/plugins/find-package.ts');
  const found = await Promise.all(files.map(readPackageFile));
  const size = found.reduce((sum, { archive }) => sum + archive.length, 0);
  if (size > maxSentBytes)
    throw usage(
      `--plugin: ${size} bytes are more than the ${maxSentBytes} that go along with a scan`,
      'portolan plugin install on the machine of the server',
    );
  return found.map(({ archive, signature }, at) => ({
    file: basename(files[at] as string),
    content: archive.toString('base64'),
    ...(signature !== null && { signature }),
  }));
}

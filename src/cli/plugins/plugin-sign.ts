import { readFile } from 'node:fs/promises';
import { readPackageFile } from '../../actions/plugins/find-package.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { signFile } from '../../plugins/signature.ts';
import { writeFileAtomic } from '../../workspace/atomic-file.ts';
import { printable } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import { note } from '../terminal/output.ts';

export async function signPlugin(
  file: string,
  { key, publisher, expiry }: { key: string; publisher: string; expiry?: string },
): Promise<void> {
  const { archive } = await readPackageFile(file);
  const privateKey = await readFile(key, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`cannot read the key ${key}: ${error.code ?? error.message}`);
  });
  const signature = signFile(archive, privateKey, { publisher, expiresAt: endOf(expiry) });
  await writeFileAtomic(`${file}.sig`, `${JSON.stringify(signature, null, 2)}\n`);
  note(`${printable(file)}.sig written`);
}

function endOf(expiry: string | undefined): Date | null {
  if (expiry === undefined) return null;
  const lifetime = parseDuration(expiry);
  if (lifetime === null || lifetime <= 0) throw usage('--expiry needs a duration such as 365d');
  return new Date(Date.now() + lifetime);
}

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, writeFileAtomic } from './atomic-file.ts';

/**
 * ID of the server among those that share a database, stored in its workspace. Created on first use.
 * @returns 16 hexadecimal digits
 */
export async function serverId(workspaceDir: string): Promise<string> {
  const file = join(workspaceDir, 'server.id');
  const known = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  if (/^[0-9a-f]{16}$/.test(known.trim())) return known.trim();
  const id = randomBytes(8).toString('hex');
  await writeFileAtomic(file, `${id}\n`);
  return id;
}

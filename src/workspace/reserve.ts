import { randomFillSync } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileMode } from './atomic-file.ts';

/** Space the store needs to delete some dozens of scans: its log grows before it shrinks. */
const reserveBytes = 1024 * 1024;

/**
 * Reserves disk space for deletion, which must work even on a full disk. The bytes are random: no file system can
 * compress them. Reserves nothing if there is not enough space.
 */
export async function allocateReserve(workspaceDir: string): Promise<void> {
  const file = fileOf(workspaceDir);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size === reserveBytes) return;
  const bytes = randomFillSync(Buffer.allocUnsafe(reserveBytes));
  await writeFile(file, bytes, { mode: fileMode }).catch(() => giveUpReserve(workspaceDir));
}

/** Frees the reserved space. */
export async function giveUpReserve(workspaceDir: string): Promise<void> {
  await rm(fileOf(workspaceDir), { force: true });
}

function fileOf(workspaceDir: string): string {
  return join(workspaceDir, 'reserve');
}

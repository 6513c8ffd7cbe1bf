import { randomFillSync } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileMode } from './atomic-file.ts';

/** What the store needs to forget some dozens of scans: its log grows before it shrinks. */
const reserveBytes = 1024 * 1024;

/**
 * Keeps room on the disk for the one thing that must work when the disk is full: deleting. The bytes are random, so
 * that no file system keeps them as less. Where there is no room even for this, nothing is left behind.
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

/** Gives that room back to the disk. */
export async function giveUpReserve(workspaceDir: string): Promise<void> {
  await rm(fileOf(workspaceDir), { force: true });
}

function fileOf(workspaceDir: string): string {
  return join(workspaceDir, 'reserve');
}

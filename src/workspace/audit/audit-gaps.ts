import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { isRunning } from '../process-identity.ts';
import { type AuditPosition, countLines, exists, lastHash, sizeOf } from './audit-files.ts';
import { firstHash } from './audit-hash.ts';
import type { AuditHead, HeadReading, WaitingRecords } from './audit-head.ts';
import type { AuditGap } from './audit-record.ts';

export function newHead(): AuditHead {
  return { hash: firstHash, records: 0, file: '', inode: 0, size: 0, file_records: 0, waiting: [] };
}

export function knownHead(reading: HeadReading): AuditHead | null {
  return typeof reading === 'object' && reading.file !== null ? reading : null;
}

/** Records that waited in processes that have died. */
export function gapsOf(waiting: readonly WaitingRecords[]): AuditGap[] {
  return waiting
    .filter((each) => !isRunning(each.process))
    .map(({ records, since }) => ({ reason: 'not_written', records, since }));
}

/** Merges those of dead processes, so that their list stays short. */
export function joinEnded(waiting: readonly WaitingRecords[]): WaitingRecords[] {
  const running = waiting.filter((each) => isRunning(each.process));
  const [first, ...ended] = waiting.filter((each) => !isRunning(each.process));
  if (!first) return running;
  const records = ended.reduce((sum, each) => sum + each.records, first.records);
  return [...running, { ...first, records }];
}

/** Records truncated from a file, compared with its head. None if the whole file is gone: files may be archived. */
export function gapBehind(path: string, head: AuditHead): AuditGap[] {
  const size = sizeOf(path);
  if (head.size === 0 || !exists(path) || isRotated(path, head)) return [];
  if (size >= head.size && lastHash(path, head.size) === head.hash) return [];
  const missing = head.file_records - countLines(path, 0, size);
  return [{ reason: 'removed', records: missing > 0 ? missing : null, file: path }];
}

/** Whether an empty file replaced the one that was written to. */
export function isRotated(path: string, { inode }: AuditHead): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.size === 0 && stats.ino !== inode;
}

export function nameOf({ folder }: AuditPosition, path: string): string {
  return dirname(path) === folder ? basename(path) : path;
}

export function positionOfHead({ folder }: AuditPosition, { file }: AuditHead): string {
  return isAbsolute(file) ? file : join(folder, file);
}

import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateFile, folderMode, isMissing } from '../atomic-file.ts';
import { hashOfLine } from './audit-hash.ts';
import { maxAuditLine } from './audit-record.ts';

/** Location of the audit log of a workspace. */
export interface AuditPosition {
  /** `audit/` of the workspace: contains the lock, the head of the chain, and one file per day. */
  folder: string;
  /** One file instead of a file per day; null for daily files. */
  file: string | null;
}

const dayFile = /^\d{4}-\d{2}-\d{2}\.jsonl$/;

export const sqliteBusy = 5;

/** Chunk size for counting records, bytes. */
const countedBytes = 1024 * 1024;

/** The file for a record of this moment. */
export function auditFileOf({ folder, file }: AuditPosition, now: Date): string {
  return file ?? join(folder, `${now.toISOString().slice(0, 10)}.jsonl`);
}

/** The files of an audit log, oldest first. */
export function auditFiles({ folder, file }: AuditPosition): string[] {
  if (file !== null) return fileIdentity(file) === '' ? [] : [file];
  return dayFiles(folder);
}

export function openGuard(folder: string, waitMs = 0): DatabaseSync {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const path = join(folder, '.guard');
  createPrivateFile(path);
  const guard = new DatabaseSync(path, { timeout: waitMs });
  try {
    // Only used as a lock: no journal on a disk that may be full.
    guard.exec('pragma journal_mode = memory');
    return guard;
  } catch (error) {
    guard.close();
    throw error;
  }
}

export function dayFiles(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => dayFile.test(name))
    .sort()
    .map((name) => join(folder, name));
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Last hash of the newest day that has one. */
export function endOfDays(folder: string): string | null {
  for (const path of dayFiles(folder).reverse()) {
    const lines = readText(path).trimEnd().split('\n');
    const hash = hashOfLine(Buffer.from(lines.at(-1) ?? '').toString('latin1'));
    if (hash !== null) return hash;
  }
  return null;
}

/** The hash of the record that ends at this byte, or null. */
export function lastHash(path: string, end: number): string | null {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    const text = readRange(fd, Math.max(0, end - 2 * maxAuditLine), end);
    if (!text.endsWith('\n')) return null;
    return hashOfLine(text.slice(text.lastIndexOf('\n', text.length - 2) + 1, -1));
  } finally {
    closeSync(fd);
  }
}

export function countLines(path: string, from: number, to: number): number {
  if (to <= from) return 0;
  const fd = openSync(path, constants.O_RDONLY);
  try {
    const chunk = Buffer.alloc(Math.min(countedBytes, to - from));
    let lines = 0;
    for (let at = from; at < to; ) {
      const read = readSync(fd, chunk, 0, Math.min(chunk.length, to - at), at);
      if (read === 0) break;
      const part = chunk.subarray(0, read);
      for (let next = part.indexOf(10); next >= 0; next = part.indexOf(10, next + 1)) lines += 1;
      at += read;
    }
    return lines;
  } finally {
    closeSync(fd);
  }
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Latin-1 maps bytes to characters one to one; only ASCII is searched for. */
export function readRange(fd: number, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(fd, bytes, read, bytes.length - read, from + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.toString('latin1', 0, read);
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
}

export function fileIdentity(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

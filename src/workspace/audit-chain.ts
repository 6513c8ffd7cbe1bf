import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { fileMode, folderMode, isMissing } from './atomic-file.ts';

/** Where the audit log of a workspace lies. */
export interface AuditPlace {
  /** `audit/` of the workspace: holds the lock, the end of the chain, and the files of the days. */
  folder: string;
  /** One file instead of a file for each day; null for the days. */
  file: string | null;
}

/** `prev_hash` of the first record of all. */
export const firstHash = '0'.repeat(64);

/** Longest line of an audit log, bytes. What a record holds is cut to less. */
export const maxAuditLine = 64 * 1024;

const hashEnd = /,"hash":"([0-9a-f]{64})"\}$/;
const dayFile = /^\d{4}-\d{2}-\d{2}\.jsonl$/;
const sqliteBusy = 5;

interface OpenFile {
  path: string;
  fd: number;
  /** Device and inode: another file may have been put in its place. */
  identity: string;
  /** Size after the last append of this process, bytes; -1 before the first. */
  size: number;
}

/**
 * The end of an audit log, for appending. Each record names the hash of the one before, through all files; the server
 * and the command line append to the same chain, one after the other.
 *
 * - `.guard` in the folder is an empty SQLite file. An exclusive lock on it, held for the time of one append, makes
 *   processes take turns; the kernel drops it when its process ends, however that happens.
 * - `.head` holds the hash of the last record, so that a file that is taken away (rotated) does not end the chain.
 * - A line that a crash or a full disk cut off is removed before the next one is written; one that only lacks its line
 *   feed is completed.
 */
export class AuditChain {
  readonly #place: AuditPlace;
  readonly #onRepair: (path: string, bytes: number) => void;
  #guard: DatabaseSync | null = null;
  #head: number | null = null;
  #open: OpenFile | null = null;
  #last = firstHash;

  /** @param onRepair told how many bytes of a torn record were removed */
  constructor(place: AuditPlace, onRepair: (path: string, bytes: number) => void = () => undefined) {
    this.#place = place;
    this.#onRepair = onRepair;
  }

  /**
   * Appends records, JSON texts of objects, as one write.
   * @returns false when another process appends at this moment
   * @throws what the system says; nothing is appended then
   */
  append(records: readonly string[], now = new Date()): boolean {
    if (!this.#lock()) return false;
    try {
      this.#write(records, this.#fileFor(now));
      return true;
    } finally {
      this.#guard?.exec('rollback');
    }
  }

  /** Makes what was appended survive a power cut. */
  async sync(): Promise<void> {
    if (this.#open) await promisify(fdatasync)(this.#open.fd);
  }

  close(): void {
    this.#closeFile();
    if (this.#head !== null) closeSync(this.#head);
    this.#head = null;
    this.#guard?.close();
    this.#guard = null;
  }

  #lock(): boolean {
    try {
      this.#guard ??= openGuard(this.#place.folder);
      this.#guard.exec('begin exclusive');
      return true;
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 === sqliteBusy) return false;
      throw error;
    }
  }

  /** Never a file before the newest one: a clock that is set back must not fork the chain. */
  #fileFor(now: Date): string {
    const path = auditFileOf(this.#place, now);
    if (this.#place.file !== null || path === this.#open?.path) return path;
    const newest = dayFiles(this.#place.folder).at(-1) ?? path;
    return newest > path ? newest : path;
  }

  #write(records: readonly string[], path: string): void {
    const file = this.#file(path);
    const found = fstatSync(file.fd).size;
    if (found !== file.size) this.#last = this.#readEnd(file, found);
    let last = this.#last;
    const lines = records.map((record) => {
      const { line, hash } = chained(record, last);
      last = hash;
      return line;
    });
    const bytes = Buffer.from(lines.join(''));
    const size = fstatSync(file.fd).size;
    try {
      writeAll(file.fd, bytes);
    } catch (error) {
      // Half a record would be worse than none.
      ftruncateSync(file.fd, size);
      throw error;
    }
    file.size = size + bytes.length;
    this.#last = last;
    this.#writeHead(last);
  }

  #file(path: string): OpenFile {
    if (this.#open?.path === path && this.#open.identity === identityOf(path)) return this.#open;
    this.#closeFile();
    mkdirSync(dirname(path), { recursive: true, mode: folderMode });
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, fileMode);
    this.#open = { path, fd, identity: '', size: -1 };
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error('the audit log is not a regular file');
    if ((stats.mode & 0o077) !== 0) fchmodSync(fd, fileMode);
    this.#open.identity = `${stats.dev}:${stats.ino}`;
    return this.#open;
  }

  #closeFile(): void {
    if (this.#open) closeSync(this.#open.fd);
    this.#open = null;
  }

  /** The hash that the next record follows; removes a torn record. */
  #readEnd(file: OpenFile, size: number): string {
    if (size === 0) return headOf(this.#place) ?? endOfDays(this.#place.folder) ?? firstHash;
    const from = Math.max(0, size - 2 * maxAuditLine);
    const text = readRange(file.fd, from, size);
    const end = text.lastIndexOf('\n') + 1;
    const tail = text.slice(end);
    if (tail !== '') {
      const whole = hashOfLine(tail);
      if (whole !== null) {
        writeAll(file.fd, Buffer.from('\n'));
        return whole;
      }
      const kept = end === 0 ? from : size - Buffer.byteLength(tail, 'latin1');
      ftruncateSync(file.fd, kept);
      this.#onRepair(file.path, size - kept);
      if (kept === 0) return this.#readEnd(file, 0);
    }
    const lines = text.slice(0, end).trimEnd().split('\n');
    return hashOfLine(lines.at(-1) ?? '') ?? headOf(this.#place) ?? firstHash;
  }

  #writeHead(hash: string): void {
    try {
      this.#head ??= openSync(headFile(this.#place.folder), constants.O_WRONLY | constants.O_CREAT, fileMode);
      writeSync(this.#head, `${hash}\n`, 0);
    } catch {
      // It only matters when the file of the log is taken away.
    }
  }
}

/** The file that a record of this moment belongs to. */
function auditFileOf({ folder, file }: AuditPlace, now: Date): string {
  return file ?? join(folder, `${now.toISOString().slice(0, 10)}.jsonl`);
}

/** The files of an audit log, the oldest first. */
export function auditFiles({ folder, file }: AuditPlace): string[] {
  if (file !== null) return identityOf(file) === '' ? [] : [file];
  return dayFiles(folder);
}

/** Sizes of files at a moment when nobody appends, bytes; null when the log cannot be locked. */
export function settledSizes({ folder }: AuditPlace, files: readonly string[]): number[] | null {
  let guard: DatabaseSync | null = null;
  try {
    guard = openGuard(folder, 2000);
    guard.exec('begin exclusive');
    return files.map((path) => statSync(path).size);
  } catch {
    return null;
  } finally {
    guard?.close();
  }
}

/** The hash of the last record that was written, or null. */
export function headOf({ folder }: AuditPlace): string | null {
  const text = readText(headFile(folder));
  return /^[0-9a-f]{64}\n$/.test(text) ? text.trimEnd() : null;
}

/** A line of the log and its hash, which is that of the line without its member `hash`. */
export function chained(record: string, previous: string): { line: string; hash: string } {
  const body = `${record.slice(0, -1)},"prev_hash":"${previous}"`;
  const hash = sha256(`${body}}`);
  return { line: `${body},"hash":"${hash}"}\n`, hash };
}

/** The hash of a line when it is the line's own, else null. */
export function hashOfLine(line: string): string | null {
  const named = hashEnd.exec(line)?.[1];
  if (named === undefined) return null;
  const body = Buffer.from(`${line.replace(hashEnd, '')}}`, 'latin1');
  return createHash('sha256').update(body).digest('hex') === named ? named : null;
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function openGuard(folder: string, waitMs = 0): DatabaseSync {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const path = join(folder, '.guard');
  try {
    closeSync(openSync(path, 'wx', fileMode));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const guard = new DatabaseSync(path, { timeout: waitMs });
  try {
    // Only the lock is wanted: no journal on a disk that may be full.
    guard.exec('pragma journal_mode = memory');
    return guard;
  } catch (error) {
    guard.close();
    throw error;
  }
}

function headFile(folder: string): string {
  return join(folder, '.head');
}

function dayFiles(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => dayFile.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The last hash of the newest day that has one. */
function endOfDays(folder: string): string | null {
  for (const path of dayFiles(folder).reverse()) {
    const lines = readText(path).trimEnd().split('\n');
    const hash = hashOfLine(Buffer.from(lines.at(-1) ?? '').toString('latin1'));
    if (hash !== null) return hash;
  }
  return null;
}

/** Latin-1 keeps bytes and characters one to one; only ASCII is looked for. */
function readRange(fd: number, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(fd, bytes, read, bytes.length - read, from + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.toString('latin1', 0, read);
}

function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
}

function identityOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

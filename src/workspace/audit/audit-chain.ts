import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { fileMode, folderMode } from '../atomic-file.ts';
import { isRunning, processIdentity } from '../process-identity.ts';
import {
  type AuditPosition,
  auditFileOf,
  auditFiles,
  countLines,
  dayFiles,
  endOfDays,
  fileIdentity,
  lastHash,
  openGuard,
  readRange,
  sizeOf,
  sqliteBusy,
  writeAll,
} from './audit-files.ts';
import { gapBehind, gapsOf, joinEnded, knownHead, nameOf, newHead, positionOfHead } from './audit-gaps.ts';
import { chained, firstHash, hashOfLine } from './audit-hash.ts';
import { type AuditHead, AuditHeadFile, type HeadReading, type WaitingRecords } from './audit-head.ts';
import { type AuditGap, gapRecord, maxAuditLine } from './audit-record.ts';

interface OpenFile {
  path: string;
  fd: number;
  /** Device and inode: the file may have been replaced. */
  identity: string;
}

/** Position of the next record. */
interface ChainEnd {
  hash: string;
  /** Records of the whole chain, and of the current file. */
  records: number;
  fileRecords: number;
  /** Missing records. */
  gaps: AuditGap[];
}

export interface AuditChainEvents {
  /** Bytes of an incomplete record were removed from the end of a file. */
  onRepair?: (path: string, bytes: number) => void;
  /** Called for missing records; a record in the log reports them too. */
  onGap?: (gap: AuditGap) => void;
}

/**
 * The end of an audit log, for appending. Each record contains the hash of the previous one, across all files; the
 * server and the command line append to the same chain, one at a time.
 *
 * - `.guard` in the folder is an empty SQLite file. An exclusive lock on it serializes appends of several processes;
 *   the kernel releases it when its process exits, however that happens.
 * - `.head` stores the end of the log (`AuditHead`). A log that ends earlier was truncated or emptied: the next
 *   record still follows the last one that was written, so the chain shows the break, and a gap record reports what
 *   is missing.
 * - A line truncated by a crash or a full disk is removed before the next append; one that only lacks its line feed
 *   is completed.
 */
export class AuditChain {
  readonly #place: AuditPosition;
  readonly #events: AuditChainEvents;
  readonly #head: AuditHeadFile;
  readonly #self = processIdentity();
  #guard: DatabaseSync | null = null;
  #open: OpenFile | null = null;
  /** The head as last written by this process. */
  #written: AuditHead | null = null;

  constructor(place: AuditPosition, events: AuditChainEvents = {}) {
    this.#place = place;
    this.#events = events;
    this.#head = new AuditHeadFile(place.folder);
  }

  /**
   * Appends records, JSON texts of objects, as one write; first a gap record if the log lacks some.
   * @returns false if another process is appending
   * @throws system errors; nothing is appended then
   */
  append(records: readonly string[], now = new Date()): boolean {
    return this.#locked(() => this.#write(records, now));
  }

  /** Compares the log with its head, and records gaps. @returns @throws as `append` */
  check(now = new Date()): boolean {
    return this.append([], now);
  }

  /**
   * Stores the number of records waiting in this process in the head: if it dies, they are reported as missing.
   * @returns false if another process is appending @throws system errors
   */
  noteWaiting(records: number, now = new Date()): boolean {
    return this.#locked(() => {
      const head = knownHead(this.#head.read());
      if (head === null) return;
      this.#head.write({ ...head, waiting: this.#waitingWith(head.waiting, records, now) });
    });
  }

  /** Makes appended records survive a power failure. */
  async sync(): Promise<void> {
    if (this.#open) await promisify(fdatasync)(this.#open.fd);
    await this.#head.sync();
  }

  close(): void {
    this.#closeFile();
    this.#head.close();
    this.#guard?.close();
    this.#guard = null;
  }

  #locked(work: () => void): boolean {
    if (!this.#lock()) return false;
    try {
      work();
      return true;
    } finally {
      this.#guard?.exec('rollback');
    }
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

  /** Never a file before the newest one: setting the clock back must not fork the chain. */
  #fileFor(now: Date): string {
    const path = auditFileOf(this.#place, now);
    if (this.#place.file !== null || path === this.#open?.path) return path;
    const newest = dayFiles(this.#place.folder).at(-1) ?? path;
    return newest > path ? newest : path;
  }

  #write(records: readonly string[], now: Date): void {
    const path = this.#fileFor(now);
    const reading = this.#head.read();
    const end = this.#endOf(path, reading);
    const waiting = knownHead(reading)?.waiting ?? [];
    const gaps = [...end.gaps, ...gapsOf(waiting)];
    // A log without a head was tampered with, so a new one starts with the head.
    if (reading === 'missing' && gaps.length === 0) this.#head.write(newHead());
    const texts = [...gaps.map((gap) => gapRecord(gap, now)), ...records];
    if (texts.length === 0) return this.#followCopy(path, reading);
    const file = this.#file(path);
    let hash = end.hash;
    const lines = texts.map((text) => {
      const next = chained(text, hash);
      hash = next.hash;
      return next.line;
    });
    const stats = fstatSync(file.fd);
    const bytes = Buffer.from(lines.join(''));
    try {
      writeAll(file.fd, bytes);
    } catch (error) {
      // A partial record would be worse than none.
      ftruncateSync(file.fd, stats.size);
      throw error;
    }
    this.#writeHead({
      hash,
      records: end.records + lines.length,
      file: nameOf(this.#place, path),
      inode: stats.ino,
      size: stats.size + bytes.length,
      file_records: end.fileRecords + lines.length,
      waiting: this.#stillWaiting(waiting, records.length),
    });
    for (const gap of gaps) this.#events.onGap?.(gap);
  }

  /** Position of the next record; removes an incomplete record. */
  #endOf(path: string, reading: HeadReading): ChainEnd {
    const head = knownHead(reading);
    if (head !== null && head === this.#written && this.#isUntouched(path, head)) {
      return { hash: head.hash, records: head.records, fileRecords: head.file_records, gaps: [] };
    }
    const size = this.#wholeSize(path);
    if (head === null) return this.#endWithoutHead(path, size, reading);
    const { hash, records } = head;
    const place = positionOfHead(this.#place, head);
    const gaps = gapBehind(place, head);
    if (place !== path) {
      // A new day, or a file named by a reload.
      const fileRecords = size === 0 ? 0 : countLines(path, 0, size);
      return { hash: (size > 0 && lastHash(path, size)) || hash, records, fileRecords, gaps };
    }
    if (size === 0) return { hash, records, fileRecords: 0, gaps };
    if (gaps.length > 0) return { hash, records, fileRecords: countLines(path, 0, size), gaps };
    // A kill between an append and its head leaves records after the head.
    const more = countLines(path, head.size, size);
    const last = more === 0 ? hash : (lastHash(path, size) ?? hash);
    return { hash: last, records: records + more, fileRecords: head.file_records + more, gaps };
  }

  /** Updates the head after the workspace was copied or restored: its file has another inode. */
  #followCopy(path: string, reading: HeadReading): void {
    const head = knownHead(reading);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!head || !stats || stats.size === 0 || positionOfHead(this.#place, head) !== path) return;
    if (stats.ino !== head.inode) this.#writeHead({ ...head, inode: stats.ino });
  }

  /** Whether no other process has written since this one did. */
  #isUntouched(path: string, { size }: AuditHead): boolean {
    const open = this.#open;
    return open?.path === path && open.identity === fileIdentity(path) && fstatSync(open.fd).size === size;
  }

  #endWithoutHead(path: string, size: number, reading: HeadReading): ChainEnd {
    const last = size > 0 ? lastHash(path, size) : endOfDays(this.#place.folder);
    const fileRecords = countLines(path, 0, size);
    const records = auditFiles(this.#place).reduce((sum, each) => sum + countLines(each, 0, sizeOf(each)), 0);
    if (typeof reading === 'object') {
      // Written by versions without a count.
      const gaps: AuditGap[] =
        last === null || last === reading.hash ? [] : [{ reason: 'removed', records: null }];
      return { hash: reading.hash, records, fileRecords, gaps };
    }
    const gaps: AuditGap[] =
      reading === 'damaged' || last !== null ? [{ reason: 'end_unknown', records: null }] : [];
    return { hash: last ?? firstHash, records, fileRecords, gaps };
  }

  /** Bytes of complete records. */
  #wholeSize(path: string): number {
    const size = sizeOf(path);
    if (size === 0) return 0;
    const { fd } = this.#file(path);
    const from = Math.max(0, size - 2 * maxAuditLine);
    const text = readRange(fd, from, size);
    const tail = text.slice(text.lastIndexOf('\n') + 1);
    if (tail === '') return size;
    if (hashOfLine(tail) !== null) {
      writeAll(fd, Buffer.from('\n'));
      return size + 1;
    }
    const kept = tail.length === text.length ? from : size - tail.length;
    ftruncateSync(fd, kept);
    this.#events.onRepair?.(path, size - kept);
    return kept;
  }

  #stillWaiting(waiting: readonly WaitingRecords[], written: number): WaitingRecords[] {
    return waiting.flatMap((each) => {
      if (!this.#isOwn(each)) return isRunning(each.process) ? [each] : [];
      return each.records > written ? [{ ...each, records: each.records - written }] : [];
    });
  }

  #waitingWith(waiting: readonly WaitingRecords[], records: number, now: Date): WaitingRecords[] {
    const own = waiting.find((each) => this.#isOwn(each));
    const others = joinEnded(waiting.filter((each) => !this.#isOwn(each)));
    if (records === 0) return others;
    return [...others, { process: this.#self, records, since: own?.since ?? now.toISOString() }];
  }

  #isOwn({ process: { pid, start_ticks } }: WaitingRecords): boolean {
    return pid === this.#self.pid && start_ticks === this.#self.start_ticks;
  }

  #file(path: string): OpenFile {
    if (this.#open?.path === path && this.#open.identity === fileIdentity(path)) return this.#open;
    this.#closeFile();
    mkdirSync(dirname(path), { recursive: true, mode: folderMode });
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, fileMode);
    this.#open = { path, fd, identity: '' };
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

  #writeHead(head: AuditHead): void {
    try {
      this.#head.write(head);
      this.#written = head;
    } catch {
      // The records are in the log; the head is updated later.
    }
  }
}

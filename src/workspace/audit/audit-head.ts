import {
  closeSync,
  constants,
  fdatasync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fileMode, folderMode, isMissing } from '../atomic-file.ts';
import type { ProcessIdentity } from '../process-identity.ts';
import { auditHash } from './audit-hash.ts';

/** End of the log at its last record. A log that ends earlier was truncated. */
export interface AuditHead {
  /** `hash` of the last record. */
  hash: string;
  /** Records of the whole chain. */
  records: number;
  /** File of the last record: its name in the folder of the log, or the path of a file outside. */
  file: string;
  /** Inode of that file: a different one means that it was rotated. */
  inode: number;
  /** Bytes and records of that file. */
  size: number;
  file_records: number;
  /** Records waiting in the memory of processes while the log is not writable. */
  waiting: WaitingRecords[];
}

export interface WaitingRecords {
  process: ProcessIdentity;
  records: number;
  since: string;
}

/** `missing`, `damaged`, or the hash alone, as written by earlier versions. */
export type HeadReading = AuditHead | { hash: string; file: null } | 'missing' | 'damaged';

/** Maximum size of a head, bytes. */
const maxHeadText = 16 * 1024;

/**
 * `audit/.head`: one line of JSON and its SHA-256. Overwritten in place, which works on a full disk; the rest of a
 * longer earlier line is ignored.
 */
export class AuditHeadFile {
  readonly #path: string;
  #fd: number | null = null;
  #inode = 0;
  readonly #bytes = Buffer.alloc(maxHeadText);
  #text: string | null = null;
  #head: HeadReading = 'missing';

  constructor(folder: string) {
    this.#path = headPath(folder);
  }

  /** Returns the same object as long as it is unchanged. */
  read(): HeadReading {
    const fd = this.#open(constants.O_RDWR);
    if (fd === null) return 'missing';
    const length = readSync(fd, this.#bytes, 0, maxHeadText, 0);
    const text = this.#bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? '';
    if (text !== this.#text) this.#head = parseHead(text);
    this.#text = text;
    return this.#head;
  }

  /** @throws system errors */
  write(head: AuditHead): void {
    const json = JSON.stringify(head);
    const text = `${json}\t${auditHash(json)}`;
    writeSync(this.#open(constants.O_RDWR | constants.O_CREAT) as number, `${text}\n`, 0);
    this.#text = text;
    this.#head = head;
  }

  /** Makes it survive a power failure. */
  async sync(): Promise<void> {
    if (this.#fd !== null) await promisify(fdatasync)(this.#fd);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** The file may have been replaced or removed. @returns null if it does not exist */
  #open(flags: number): number | null {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (this.#fd !== null && found?.ino === this.#inode) return this.#fd;
    this.close();
    if (!found) {
      if ((flags & constants.O_CREAT) === 0) return null;
      mkdirSync(dirname(this.#path), { recursive: true, mode: folderMode });
    }
    this.#fd = openSync(this.#path, flags | constants.O_NOFOLLOW, fileMode);
    this.#inode = statSync(this.#path).ino;
    return this.#fd;
  }
}

/** @returns the content of `.head` of a folder, for readers only */
export function readHead(folder: string): HeadReading {
  try {
    return parseHead(readFileSync(headPath(folder), 'utf8').split('\n', 1)[0] ?? '');
  } catch (error) {
    if (isMissing(error)) return 'missing';
    throw error;
  }
}

function headPath(folder: string): string {
  return join(folder, '.head');
}

function parseHead(text: string): HeadReading {
  // A kill between its creation and its first line leaves an empty one.
  if (text === '') return 'missing';
  if (/^[0-9a-f]{64}$/.test(text)) return { hash: text, file: null };
  const [json = '', seal] = text.split('\t');
  if (seal === undefined || auditHash(json) !== seal) return 'damaged';
  return JSON.parse(json) as AuditHead;
}

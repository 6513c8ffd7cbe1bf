import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { PortolanError } from '../../../domain/errors.ts';

/** Maximum size of an unpacked block, bytes: all records of the product with the most. */
export const maxBlockBytes = 256 * 1024 * 1024;

/** Block header: packed length, unpacked length, CRC-32 of the packed bytes. */
const headerBytes = 12;
/** Write buffer, bytes. */
const writeBytes = 1024 * 1024;

/** @param reason the defect, without paths */
export function damagedBlock(reason: string, cause?: unknown): PortolanError {
  const remedy = 'Import it again with "vulndb import --replace", or sync it with "vulndb sync --force".';
  return new PortolanError('conflict', `The vulnerability data is damaged: ${reason}. ${remedy}`, {}, cause);
}

/** A file that is written once, sequentially. */
export class FileWriter {
  readonly #fd: number;
  readonly #hash = createHash('sha256');
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #size = 0;

  /** @param path must not exist */
  constructor(path: string) {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    this.#fd = openSync(path, flags, 0o600);
  }

  get size(): number {
    return this.#size;
  }

  /** @returns offset of the bytes */
  write(bytes: Uint8Array): number {
    const at = this.#size;
    this.#hash.update(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#size += bytes.length;
    if (this.#waitingBytes >= writeBytes) this.#flush();
    return at;
  }

  /**
   * Packs a text as one block.
   *
   * @returns its offset
   */
  writeBlock(text: string): number {
    const raw = Buffer.from(text);
    if (raw.length > maxBlockBytes) throw new RangeError(`a block of ${raw.length} bytes`);
    const packed = deflateRawSync(raw);
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32LE(packed.length, 0);
    header.writeUInt32LE(raw.length, 4);
    header.writeUInt32LE(crc32(packed), 8);
    const at = this.write(header);
    this.write(packed);
    return at;
  }

  /** Flushes it to the disk (fsync). */
  finish(): { size: number; sha256: string } {
    this.#flush();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    return { size: this.#size, sha256: this.#hash.digest('hex') };
  }

  abandon(): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
  }
}

/**
 * Reads this many bytes of a file.
 *
 * @throws PortolanError `conflict` when the file is too short
 */
export function readBlockBytes(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let read = 0; read < length; ) {
    const some = readSync(fd, bytes, read, length - read, offset + read);
    if (some === 0) throw damagedBlock('a file is truncated');
    read += some;
  }
  return bytes;
}

export interface RecordBlock {
  text: string;
  /** Unpacked bytes. */
  size: number;
  /** Offset of the next block. */
  end: number;
}

/**
 * Reads one block.
 *
 * @param size of the file
 * @throws PortolanError `conflict` without a complete block at this offset
 */
export function readRecordBlock(fd: number, offset: number, size: number): RecordBlock {
  if (!Number.isSafeInteger(offset) || offset < 0 || offset + headerBytes > size) {
    throw damagedBlock('a block is outside its file');
  }
  const header = readBlockBytes(fd, offset, headerBytes);
  const packedLength = header.readUInt32LE(0);
  const rawLength = header.readUInt32LE(4);
  const end = offset + headerBytes + packedLength;
  if (end > size || Math.max(packedLength, rawLength) > maxBlockBytes)
    throw damagedBlock('a block has an invalid length');
  const packed = readBlockBytes(fd, offset + headerBytes, packedLength);
  if (crc32(packed) !== header.readUInt32LE(8)) throw damagedBlock('a checksum does not match');
  const raw = inflate(packed, rawLength);
  if (raw.length !== rawLength) throw damagedBlock('a block differs from its stated length');
  return { text: raw.toString(), size: rawLength, end };
}

function inflate(packed: Buffer, rawLength: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, rawLength) });
  } catch (error) {
    throw damagedBlock('a block cannot be decompressed', error);
  }
}

import { promisify } from 'node:util';
import { crc32, type InflateRaw, inflateRaw } from 'node:zlib';
import { type ArchiveEntry, packageRefused } from './archive-names.ts';

/** Lengths of the fixed parts of a zip archive, bytes (APPNOTE.TXT 4.3). */
const localLength = 30;
const centralLength = 46;
const endLength = 22;
const marks = { local: 0x04034b50, central: 0x02014b50, descriptor: 0x08074b50, end: 0x06054b50 };

/** General purpose flags: sizes follow the data; names in UTF-8 (ASCII is the same either way); level of deflate. */
const sizesFollow = 0x0008;
const harmlessFlags = 0x0806 | sizesFollow;
/** Extra fields with times, owners and the mark of a Java archive; others can hold a second name, a link or other sizes. */
const harmlessExtras = new Set([0x5455, 0x7875, 0x5855, 0x000a, 0xcafe]);
const methods = { stored: 0, deflated: 8 };
/** File types of Unix modes. */
const unixTypes: Readonly<Record<number, string>> = {
  0o04: 'directory',
  0o10: 'file',
  0o12: 'symlink',
  0o02: 'character-device',
  0o06: 'block-device',
  0o01: 'fifo',
  0o14: 'socket',
};

/** An entry of the central directory. */
interface CentralEntry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packed: number;
  size: number;
  type: string;
  /** Of its local header. */
  at: number;
}

/**
 * Unpacks a zip archive in memory. Each byte of it must belong to exactly one entry or to the central directory, and both
 * must say the same of each entry, so that no other reader can see another content.
 * @param select called for each entry before anything is unpacked; whether it is a file
 * @throws PortolanError `configuration` with the reason
 */
export async function unpackZip(
  bytes: Buffer,
  maxBytes: number,
  select: (entry: ArchiveEntry) => boolean,
): Promise<Map<string, Buffer>> {
  const { at: directory, entries } = readCentral(bytes);
  const files = entries.filter(({ name, type }) => select({ name, type }));
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes) throw packageRefused(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
  const data = locateData(bytes, entries, directory);
  const unpacked = new Map<string, Buffer>();
  for (const entry of files) unpacked.set(entry.name, await unpackEntry(entry, data.get(entry) as Buffer));
  return unpacked;
}

function readCentral(bytes: Buffer): { at: number; entries: CentralEntry[] } {
  const end = bytes.length - endLength;
  if (end < 0 || bytes.readUInt32LE(end) !== marks.end) {
    throw packageRefused('the zip archive is damaged, cut off, or has a comment or other data at its end');
  }
  const [disk, first, here, count] = [4, 6, 8, 10].map((offset) => bytes.readUInt16LE(end + offset));
  const [length = 0, at = 0] = [12, 16].map((offset) => bytes.readUInt32LE(end + offset));
  if (count === 0xffff || at === 0xffffffff)
    throw packageRefused('ZIP64 archives are for sizes that no package has');
  const whole = disk === 0 && first === 0 && here === count && bytes.readUInt16LE(end + 20) === 0;
  if (!whole || at + length !== end) throw damaged('its central directory');
  const entries: CentralEntry[] = [];
  let position = at;
  while (position < end) {
    const entry = readCentralEntry(bytes.subarray(position, end));
    entries.push(entry.entry);
    position += entry.length;
  }
  if (entries.length !== count) throw damaged('its central directory');
  return { at, entries };
}

function readCentralEntry(bytes: Buffer): { entry: CentralEntry; length: number } {
  if (bytes.length < centralLength || bytes.readUInt32LE(0) !== marks.central)
    throw damaged('its central directory');
  const [nameLength = 0, extraLength = 0, commentLength = 0, disk = 0] = [28, 30, 32, 34].map((offset) =>
    bytes.readUInt16LE(offset),
  );
  const length = centralLength + nameLength + extraLength + commentLength;
  if (length > bytes.length) throw damaged('its central directory');
  const name = bytes.toString('latin1', centralLength, centralLength + nameLength);
  const shown = quoted(name);
  const [flags = 0, method = 0] = [8, 10].map((offset) => bytes.readUInt16LE(offset));
  const [crc = 0, packed = 0, size = 0] = [16, 20, 24].map((offset) => bytes.readUInt32LE(offset));
  if ((flags & 0x2041) !== 0) throw packageRefused(`${shown} is encrypted`);
  if ((flags & ~harmlessFlags) !== 0) throw packageRefused(`${shown} has flags that no package needs`);
  if (method !== methods.stored && method !== methods.deflated)
    throw packageRefused(`${shown} is compressed by method ${method}; use deflate`);
  if (commentLength > 0 || disk > 0) throw packageRefused(`${shown} has a comment or lies on another disk`);
  checkExtras(bytes.subarray(centralLength + nameLength, length), shown);
  const type = entryType(name, bytes.readUInt32LE(38));
  if (type === 'directory' && (size > 0 || packed > 0))
    throw packageRefused(`the folder ${shown} has content`);
  return { entry: { name, flags, method, crc, packed, size, type, at: bytes.readUInt32LE(42) }, length };
}

/** The name, the Unix mode and the DOS attributes must agree. */
function entryType(name: string, attributes: number): string {
  const type = attributes >>> 28;
  const given = type === 0 ? null : (unixTypes[type] ?? `type ${type.toString(8)}`);
  const named = name.endsWith('/') ? 'directory' : 'file';
  if (given !== null && given !== named)
    return given === 'file' || given === 'directory' ? `${named} and ${given}` : given;
  return (attributes & 0x10) !== 0 && named === 'file' ? 'file and directory' : named;
}

function checkExtras(bytes: Buffer, shown: string): void {
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw damaged(shown);
    const [id = 0, length = 0] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
    if (!harmlessExtras.has(id))
      throw packageRefused(`${shown} has the extra field 0x${id.toString(16)}, which no package needs`);
    at += 4 + length;
    if (at > bytes.length) throw damaged(shown);
  }
}

/** The packed bytes of each entry. Local entries follow each other from the first byte to the central directory. */
function locateData(
  bytes: Buffer,
  entries: readonly CentralEntry[],
  directory: number,
): Map<CentralEntry, Buffer> {
  const ordered = [...entries].sort((a, b) => a.at - b.at);
  const data = new Map<CentralEntry, Buffer>();
  let position = 0;
  for (const [index, entry] of ordered.entries()) {
    if (entry.at !== position)
      throw packageRefused(`${quoted(entry.name)} overlaps, or follows data of no entry`);
    const next = ordered[index + 1]?.at ?? directory;
    if (next > directory) throw damaged(quoted(entry.name));
    if (next === position) throw packageRefused(`${quoted(entry.name)} overlaps another entry`);
    data.set(entry, localData(bytes.subarray(position, next), entry));
    position = next;
  }
  if (position !== directory) throw damaged('its central directory');
  return data;
}

/** @param bytes from the local header to the next one */
function localData(bytes: Buffer, entry: CentralEntry): Buffer {
  const shown = quoted(entry.name);
  if (bytes.length < localLength || bytes.readUInt32LE(0) !== marks.local) throw damaged(shown);
  const [flags, method, nameLength = 0, extraLength = 0] = [6, 8, 26, 28].map((at) => bytes.readUInt16LE(at));
  const start = localLength + nameLength + extraLength;
  const end = start + entry.packed;
  if (end > bytes.length) throw packageRefused(`${shown} overlaps, or is cut off`);
  checkExtras(bytes.subarray(localLength + nameLength, start), shown);
  const name = bytes.toString('latin1', localLength, localLength + nameLength);
  const same = name === entry.name && flags === entry.flags && method === entry.method;
  const streamed = (entry.flags & sizesFollow) !== 0;
  // A streaming writer leaves out what it did not know yet: the descriptor says it.
  const sizes = sizesAt(bytes, 14).map((value, index) =>
    streamed && value === 0 ? sizesOf(entry)[index] : value,
  );
  if (!same || !agree(sizes, entry)) throw contradiction(shown);
  checkDescriptor(bytes.subarray(end), entry, streamed);
  return bytes.subarray(start, end);
}

/** @param rest what lies between the data and the next entry */
function checkDescriptor(rest: Buffer, entry: CentralEntry, streamed: boolean): void {
  const shown = quoted(entry.name);
  if (!streamed && rest.length > 0) throw packageRefused(`data of no entry follows ${shown}`);
  if (!streamed) return;
  const marked = rest.length === 16 && rest.readUInt32LE(0) === marks.descriptor;
  if (!marked && rest.length !== 12) throw packageRefused(`data of no entry follows ${shown}`);
  if (!agree(sizesAt(rest, rest.length - 12), entry)) throw contradiction(shown);
}

/** CRC-32, packed and unpacked size. */
function sizesAt(bytes: Buffer, at: number): number[] {
  return [0, 4, 8].map((offset) => bytes.readUInt32LE(at + offset));
}

function sizesOf({ crc, packed, size }: CentralEntry): number[] {
  return [crc, packed, size];
}

function agree(sizes: readonly (number | undefined)[], entry: CentralEntry): boolean {
  return sizesOf(entry).every((value, index) => value === sizes[index]);
}

async function unpackEntry({ name, method, crc, size }: CentralEntry, packed: Buffer): Promise<Buffer> {
  const content =
    method === methods.stored ? Buffer.from(packed) : await inflated(packed, size, quoted(name));
  if (content.length !== size || crc32(content) !== crc) throw damaged(quoted(name));
  return content;
}

/** What `inflateRaw` gives with `info`; not in its types. */
interface Inflated {
  buffer: Buffer;
  engine: InflateRaw;
}

/** At most the size that was counted; nothing may follow the end of the deflated data. */
async function inflated(packed: Buffer, size: number, shown: string): Promise<Buffer> {
  const options = { maxOutputLength: Math.max(1, size), info: true };
  const { buffer, engine } = await promisify(inflateRaw)(packed, options).then(
    (result) => result as unknown as Inflated,
    (error: unknown) => {
      throw damaged(shown, error);
    },
  );
  if (engine.bytesWritten !== packed.length) throw packageRefused(`data of no entry follows ${shown}`);
  return buffer;
}

function contradiction(shown: string): Error {
  return packageRefused(`the zip archive says two things about ${shown}`);
}

function damaged(what: string, cause?: unknown): Error {
  return packageRefused(`the zip archive is damaged: ${what}`, cause);
}

function quoted(name: string): string {
  return `"${name.slice(0, 80)}"`;
}

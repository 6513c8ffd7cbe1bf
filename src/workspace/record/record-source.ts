import { hash } from 'node:crypto';
import { mergeRows } from '../../domain/merge-rows.ts';
import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import { isCurrent, isFinished, type OpenRecord, openRecordFile } from './open-record.ts';
import {
  type Block,
  BlockMemory,
  blockEnd,
  blockLastRow,
  linesOf,
  readBlock,
  readBytes,
  readIndex,
  recordFiles,
} from './record-files.ts';
import { linesAt, readMember, unpackedStream } from './record-members.ts';
import { RowReader } from './record-merge.ts';
import { describeLines } from './record-recovery.ts';
import { completeRow, isPlausibleRow, parseRow } from './row-line.ts';
import type { RecordSource, RowPlace, SourceRow } from './scan-record.ts';

/** A growing file, or the text of a finished one, packed or not. */
export class FileSource implements RecordSource {
  readonly identity: string;
  readonly isGrowing: boolean;
  readonly expected: { hosts: number; ports: number; findings: number };
  readonly #record: OpenRecord;
  readonly #path: string;
  readonly #reader: RowReader;

  private constructor(record: OpenRecord, path: string, identity: string, size: number) {
    const summary = record.summaryLine === null ? null : (parseRow(record.summaryLine) as SummaryRow | null);
    this.expected = {
      hosts: plausible(summary?.live_hosts, size),
      ports: plausible(summary?.open_ports, size),
      findings: plausible(summary?.vulnerabilities, size),
    };
    this.#record = record;
    this.#path = path;
    this.identity = identity;
    this.isGrowing = !isFinished(record);
    this.#reader = new RowReader(record.file);
  }

  /** Null without a record. @param path of the folder of the scan */
  static async open(path: string): Promise<FileSource | null> {
    const record = await openRecordFile(recordFiles(path));
    if (record === null) return null;
    try {
      const { size } = await record.file.stat();
      return new FileSource(record, path, await identityOf(record), size);
    } catch (error) {
      await record.file.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#record.file.close();
  }

  async *rows(after: number): AsyncGenerator<Iterable<SourceRow>> {
    const { file, members } = this.#record;
    if (members !== null && members.length === 0) return yield* this.#unpackedRows();
    for (const member of members ?? []) {
      const bytes = await readMember(file, member);
      if (bytes !== null) yield rowsOf(bytes, member);
    }
    if (members === null) yield* this.#plainRows(after);
  }

  async *#plainRows(after: number): AsyncGenerator<Iterable<SourceRow>> {
    const memory = new BlockMemory();
    for (const block of await this.#blocks()) {
      if (blockLastRow(block) <= after) continue;
      const { bytes, sound } = await readBlock(this.#record.file, block, memory.for(block));
      // The end of a record whose scan was killed, and which was not recovered yet.
      if (!sound && this.isGrowing) return;
      yield rowsOf(bytes, block, ({ number, row }) => number > after && (sound || isPlausibleRow(row)));
    }
  }

  async textBytes(): Promise<number> {
    const { file, members } = this.#record;
    if (members !== null) return blockEnd(members.at(-1));
    return this.isGrowing ? blockEnd((await this.#blocks()).at(-1)) : (await file.stat()).size;
  }

  async #blocks(): Promise<Block[]> {
    const { file } = this.#record;
    const blocks = await readIndex(recordFiles(this.#path).index);
    // Finished or deleted between the two reads: the blocks are those of another file.
    if (this.isGrowing) return (await isCurrent(recordFiles(this.#path), this.#record)) ? blocks : [];
    if (blockEnd(blocks.at(-1)) === (await file.stat()).size) return blocks;
    // The index is lost, or stale after a crash.
    return await describeLines(file);
  }

  async *#unpackedRows(): AsyncGenerator<Iterable<SourceRow>> {
    let [offset, first_row] = [0, 1];
    for await (const bytes of unpackedStream(this.#record.file, false)) {
      const rows = [...rowsOf(bytes, { offset, first_row })];
      yield rows.filter(({ row }) => isPlausibleRow(row));
      offset += bytes.length;
      first_row += rows.length;
    }
  }

  read(place: RowPlace): ResultRow | null {
    return parseRow(this.#reader.read(place));
  }

  async members(places: readonly RowPlace[][]): Promise<(ResultRow | null)[]> {
    const { file, members } = this.#record;
    if (members === null) return places.map((own) => mergedOf(own.map((place) => this.read(place))));
    const all = places.flat();
    const found =
      members.length > 0 ? await linesAt(file, members, all) : await linesInStream(this.#record, all);
    const lines = new Map(found.map(({ place, line }) => [place, line]));
    return places.map((own) => mergedOf(own.map((place) => parseRow(lines.get(place) ?? ''))));
  }
}

/** Bytes of a row in a packed record, at least. */
const minRowBytes = 4;

/** A count of rows that fits a file of this size, bytes; 0 for any other. */
function plausible(count: unknown, size: number): number {
  return Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) * minRowBytes <= size
    ? (count as number)
    : 0;
}

function mergedOf(rows: readonly (ResultRow | null)[]): ResultRow | null {
  const merged = mergeRows(rows.filter((row) => row !== null));
  return merged && completeRow(merged);
}

/** Rows are read one by one: those of a whole block would fill the memory of a thread. */
function* rowsOf(
  bytes: Buffer,
  block: Pick<Block, 'offset' | 'first_row'>,
  isWanted: (row: SourceRow) => boolean = () => true,
): Generator<SourceRow> {
  let number = block.first_row - 1;
  for (const { start, end } of linesOf(bytes)) {
    number += 1;
    const row = parseRow(bytes.toString('utf8', start, end));
    if (row === null || typeof row !== 'object') continue;
    const found = { row, place: { offset: block.offset + start, length: end - start }, number };
    if (isWanted(found)) yield found;
  }
}

/** A finished record: the size of its text and its last line, with the time and all counts of the scan. */
async function identityOf(record: OpenRecord): Promise<string> {
  const { dev, ino, size } = await record.file.stat();
  if (!isFinished(record)) return `growing ${dev} ${ino}`;
  const { members, summaryLine } = record;
  const first = members === null ? await readBytes(record.file, 0, firstBytes) : null;
  const start =
    first ?? (members?.[0] && (await readMember(record.file, members[0])))?.subarray(0, firstBytes);
  const length = members === null ? size : members.length > 0 ? blockEnd(members.at(-1)) : `packed ${size}`;
  return `finished ${length} ${hash('sha256', Buffer.concat([start ?? Buffer.of(), Buffer.from(summaryLine ?? '')]))}`;
}

/** Bytes of the start of a record that its identity covers: less than the smallest member. */
const firstBytes = 64;

/** Lines of a packed record whose index is lost. */
async function linesInStream<P extends RowPlace>(
  { file }: OpenRecord,
  places: readonly P[],
): Promise<{ place: P; line: string }[]> {
  const found: { place: P; line: string }[] = [];
  let offset = 0;
  for await (const bytes of unpackedStream(file, false)) {
    for (const place of places) {
      const start = place.offset - offset;
      if (start >= 0 && start + place.length <= bytes.length)
        found.push({ place, line: bytes.toString('utf8', start, start + place.length) });
    }
    offset += bytes.length;
  }
  return found;
}

import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import { parseAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { anyInterface, parseTargets } from '../../domain/targets/target.ts';
import { keyDigestOf } from '../../queue/shard-queue.ts';
import type { Store } from '../../store/open.ts';
import type { LeasedShard } from '../../store/shards.ts';
import { folderMode } from '../../workspace/atomic-file.ts';
import { readCheckpointBytes, writeCheckpointBytes } from '../../workspace/record/checkpoint.ts';
import { openRecordFile, recordPieces } from '../../workspace/record/open-record.ts';
import { blockEnd, linesOf, readIndex, recordFiles } from '../../workspace/record/record-files.ts';
import { openRecord, type RecordWriter } from '../../workspace/record/record-writer.ts';
import { parseRow } from '../../workspace/record/row-line.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';

/** Kinds of rows that only a whole scan produces. */
const ofWholeScans = new Set<string>(['summary', 'compliance']);

/** Subfolder of a scan with a folder per shard, until the scan ends. */
const folderName = 'shards';

/** Authorizes a sender to a shard. */
export interface ShardCredentials {
  scanId: string;
  shard: number;
  attempt: number;
  key: string;
}

/** Receives the rows of a whole scan. */
export type RowSink = (row: ResultRow) => void | Promise<void>;

/** Data of one shard on this server. */
interface ShardFile {
  folder: ScanFolder;
  record: RecordWriter;
  addresses: AddressSet;
  /** Serializes requests about the shard. */
  last: Promise<unknown>;
  /** Newest attempt that sent a request: earlier ones are rejected; infinite: all. */
  attempt: number;
}

/**
 * Ingests the results of the workers of one scan: each shard has a record from which another worker can continue, and
 * every row also goes into the record of the scan.
 */
export class ShardIngest {
  readonly #store: Store;
  readonly #scanId: string;
  readonly #place: string;
  readonly #sink: RowSink;
  readonly #shards = new Map<number, ShardFile>();
  /** Addresses of all shards of the scan. */
  #divided: AddressSet | null = null;

  /** @param folder of the scan */
  constructor(store: Store, scanId: string, folder: ScanFolder, sink: RowSink) {
    this.#store = store;
    this.#scanId = scanId;
    this.#place = join(folder.path, folderName);
    this.#sink = sink;
  }

  /**
   * Appends rows of a worker; skips those that are already stored.
   *
   * @param first number of rows that the worker sent before these
   * @returns number of rows now on disk
   * @throws PortolanError `conflict` if rows in between are missing or the shard belongs to another worker
   */
  async append(sender: ShardCredentials, first: number, lines: readonly string[]): Promise<number> {
    const file = await this.#admit(sender);
    return await this.#oneByOne(file, sender, async () => {
      const held = file.record.rows;
      if (first > held) {
        throw new PortolanError('conflict', `Missing rows: got ${held} of ${first}.`, {
          rows: held,
        });
      }
      const rows = lines.slice(held - first).map((line) => checkedRow(line, file.addresses));
      for (const row of rows) await file.record.append(row);
      await file.record.seal();
      for (const row of rows) if (!ofWholeScans.has(row.type)) await this.#sink(row);
      await this.#confirm(sender, file.record.rows);
      return file.record.rows;
    });
  }

  /** Saves the checkpoint of a worker. It builds on rows that were ingested before. */
  async keepCheckpoint(sender: ShardCredentials, bytes: Buffer): Promise<void> {
    const file = await this.#admit(sender);
    await this.#oneByOne(file, sender, async () => {
      checkJson(bytes);
      await this.#confirm(sender, file.record.rows);
      await writeCheckpointBytes(file.folder, bytes);
    });
  }

  /** @returns null without a checkpoint */
  async checkpoint(sender: ShardCredentials): Promise<Buffer | null> {
    const file = await this.#admit(sender);
    return await this.#oneByOne(file, sender, () => readCheckpointBytes(file.folder));
  }

  /** All rows of a shard, as stored in its record, and their number. */
  async rows(sender: ShardCredentials): Promise<{ rows: number; stream: Readable }> {
    const file = await this.#admit(sender);
    return await this.#oneByOne(file, sender, async () => {
      const { record, folder } = file;
      await record.seal();
      const { data, index } = recordFiles(folder.path);
      const end = blockEnd((await readIndex(index)).at(-1));
      // `end` of a stream is inclusive.
      const stream = end === 0 ? Readable.from([]) : createReadStream(data, { start: 0, end: end - 1 });
      return { rows: record.rows, stream };
    });
  }

  /** Sends every row of every shard to the sink again: the record of the scan may have lost some in a crash. */
  async replay(shards: number): Promise<void> {
    for (let shard = 0; shard < shards; shard++) {
      const record = await openRecordFile(recordFiles(join(this.#place, String(shard))));
      if (record === null) continue;
      try {
        for await (const piece of recordPieces(record)) await this.#sinkLines(piece);
      } finally {
        await record.file.close();
      }
    }
  }

  async #sinkLines(piece: Buffer): Promise<void> {
    for (const { start, end } of linesOf(piece)) {
      const row = parseRow(piece.toString('utf8', start, end));
      if (row && !ofWholeScans.has(row.type)) await this.#sink(row);
    }
  }

  /** Closes ended shards: a scan of thousands would keep as many files open. */
  async release(shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      const file = this.#shards.get(shard);
      if (!file) continue;
      this.#shards.delete(shard);
      file.attempt = Number.POSITIVE_INFINITY;
      await file.last.catch(() => undefined);
      await file.record.close();
    }
  }

  /** No more rows follow. */
  async close(): Promise<void> {
    await this.release([...this.#shards.keys()]);
  }

  /**
   * Authorizes a sender before its body is read.
   * @returns number of shards of the scan
   * @throws PortolanError `unauthorized` for a wrong key, `conflict` if the shard belongs to another worker or has
   *   ended
   */
  async admit({ shard, attempt, key }: ShardCredentials): Promise<number> {
    const holder = await this.#store.shards.holder(this.#scanId, shard);
    if (holder === null) throw new PortolanError('not_found', 'Shard not found.');
    if (holder.attempt !== attempt || holder.state !== 'running') throw lost();
    if (holder.key_digest !== keyDigestOf(key)) {
      throw new PortolanError('unauthorized', 'Invalid shard key.');
    }
    return holder.of;
  }

  /** @throws PortolanError see `admit` */
  async #admit(sender: ShardCredentials): Promise<ShardFile> {
    const of = await this.admit(sender);
    return this.#shards.get(sender.shard) ?? (await this.#open(sender.shard, of));
  }

  async #open(shard: number, of: number): Promise<ShardFile> {
    this.#divided ??= await this.#division();
    const folder = new ScanFolder(join(this.#place, String(shard)));
    await mkdir(folder.path, { recursive: true, mode: folderMode });
    const record = await openRecord(folder);
    const known = this.#shards.get(shard);
    if (known) {
      await record.close();
      return known;
    }
    const addresses = this.#divided.everyNth(BigInt(of), BigInt(shard));
    const file: ShardFile = { folder, record, addresses, last: Promise.resolve(), attempt: 0 };
    this.#shards.set(shard, file);
    return file;
  }

  async #division(): Promise<AddressSet> {
    const division = await this.#store.shards.plan(this.#scanId);
    if (division === null) throw lost();
    return parseTargets(division.addresses, anyInterface).addresses;
  }

  /** @throws PortolanError `conflict` if a later attempt has sent a request before */
  async #oneByOne<T>(file: ShardFile, { attempt }: ShardCredentials, work: () => Promise<T>): Promise<T> {
    const turn = async () => {
      if (attempt < file.attempt) throw lost();
      file.attempt = attempt;
      return await work();
    };
    const result = file.last.then(turn, turn);
    file.last = result.catch(() => undefined);
    return await result;
  }

  /** @throws PortolanError `conflict` if another worker has claimed the shard meanwhile */
  async #confirm({ shard, attempt }: ShardCredentials, rows: number): Promise<void> {
    const held: LeasedShard = { scanId: this.#scanId, shard, attempt };
    if (!(await this.#store.shards.setRows(held, rows))) throw lost();
  }
}

/** Lines of a body. @throws PortolanError `invalid_request` if the last one is incomplete */
export function rowLines(body: Buffer): string[] {
  const lines = body.toString('utf8').split('\n');
  if (lines.pop() === '') return lines;
  throw new PortolanError('invalid_request', 'The last line is incomplete.');
}

/** Call it once the record of the scan is complete. @returns whether shards existed */
export async function removeShards(folder: ScanFolder): Promise<boolean> {
  const place = join(folder.path, folderName);
  const found = await stat(place).catch(() => null);
  if (found) await rm(place, { recursive: true, force: true });
  return found !== null;
}

function lost(): PortolanError {
  return new PortolanError('conflict', 'Shard lease lost: results rejected.');
}

/** @throws PortolanError `invalid_request` for an invalid row, or a row about a host outside the shard */
function checkedRow(line: string, addresses: AddressSet): ResultRow {
  const row = parseRow(line) as (ResultRow & { host?: unknown }) | null;
  if (row === null || typeof row !== 'object' || !kinds.has(row.type) || typeof row.timestamp !== 'string')
    throw new PortolanError('invalid_request', 'A line is not a result row.');
  const { host } = row;
  if (host === null || host === undefined) return row;
  const address = typeof host === 'string' ? parseAddress(host) : null;
  if (address === null || !addresses.hasAddress(address))
    throw new PortolanError('invalid_request', 'A row has a host that is not in the shard.');
  return row;
}

const kinds = new Set<string>(['host', 'port', 'vulnerability', 'compliance', 'extra', 'error', 'summary']);

/** @throws PortolanError `invalid_request` */
function checkJson(bytes: Buffer): void {
  try {
    JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new PortolanError('invalid_request', 'The checkpoint is not JSON.', {}, error);
  }
}

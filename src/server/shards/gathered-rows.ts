import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { anyInterface, parseTargets } from '../../domain/targets/target.ts';
import type { Store } from '../../store/open.ts';
import type { ImportedShard, ResultBlock } from '../../store/shard-results.ts';
import type { ShardState } from '../../store/shards.ts';
import { blockBytes, blockLines } from '../../worker/block-bytes.ts';
import { readCheckpointBytes } from '../../workspace/record/checkpoint.ts';
import { openRecordFile, recordPieces } from '../../workspace/record/open-record.ts';
import { linesOf, newLine, recordFiles } from '../../workspace/record/record-files.ts';
import type { RecordWriter } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { type RowSubject, RowSubjects } from './row-subject.ts';

/** Kinds of rows that only a whole scan produces. */
const ofWholeScans = new Set<string>(['summary', 'compliance']);

/** Address sets of shards in memory: those that run store rows in turns. */
const maxAddressSets = 64;

/** Blocks read at once. */
const blocksAtOnce = 8;

/** Subfolder of a scan where earlier versions kept a folder per shard. */
const folderName = 'shards';

/** Receives the rows of a whole scan, each of them looked at. A returned promise asks to wait. */
export type RowSink = Pick<RecordWriter, 'appendLines'>;

export interface GatheredRowsInput {
  store: Store;
  scanId: string;
  sink: RowSink;
  /** Rows that the sink has from an earlier time; they come first again, in the same order. */
  skip: number;
  /** Called for rows that are no rows of their shard; they are left out. */
  onInvalid: (message: string) => void;
}

/**
 * The rows of all shards of a scan, in the order in which the database has stored them: the same for every server that
 * reads them, now or later.
 */
export class GatheredRows {
  readonly #input: GatheredRowsInput;
  #skip: number;
  /** Number of the last block. */
  #block = 0;
  /** Addresses of all shards of the scan, and of each. */
  #divided: AddressSet | null | undefined;
  /** Number of shards. */
  #of: number | null = null;
  readonly #addresses = new Map<number, AddressSet>();
  #reported = false;
  /** Rows of all shards at the last call. */
  #stored = -1;

  constructor(input: GatheredRowsInput) {
    this.#input = input;
    this.#skip = input.skip;
  }

  /** Sends all rows that were stored since the last call to the sink. @param shards all of the scan, read before */
  async take(shards: readonly Pick<ShardState, 'rows'>[]): Promise<void> {
    const stored = shards.reduce((sum, { rows }) => sum + rows, 0);
    if (stored === this.#stored) return;
    this.#of = shards.length;
    await this.takeNew();
    this.#stored = stored;
  }

  /** As `take`, by a server that does not know the shards. */
  async takeNew(): Promise<void> {
    const { store, scanId } = this.#input;
    for (;;) {
      const blocks = await store.shardResults.blocks(scanId, this.#block, blocksAtOnce);
      for (const block of blocks) {
        await this.#sinkBlock(block);
        this.#block = block.number;
      }
      if (blocks.length < blocksAtOnce) return;
    }
  }

  async #sinkBlock({ shard, bytes }: ResultBlock): Promise<void> {
    const addresses = await this.#addressesOf(shard);
    const lines = await blockLines(bytes).catch(() => null);
    if (lines === null) return this.#reportInvalid(shard);
    const hosts = addresses && new HostsOfShard(addresses);
    const subjects = new RowSubjects(lines);
    // Rows that follow each other are copied at once.
    const run = { start: 0, rows: 0 };
    const takeRun = (end: number) => {
      const { start, rows } = run;
      run.rows = 0;
      return rows === 0 ? undefined : this.#input.sink.appendLines(lines.subarray(start, end), rows);
    };
    for (const { start, end } of linesOf(lines)) {
      if (this.#isWanted(subjects.of(start, end), shard, hosts)) {
        if (run.rows === 0) run.start = start;
        run.rows += 1;
      } else if (run.rows > 0) await takeRun(start);
    }
    await takeRun(lines.lastIndexOf(newLine) + 1);
  }

  /** @param hosts null for a whole scan */
  #isWanted(row: RowSubject | null, shard: number, hosts: HostsOfShard | null): boolean {
    if (row === null || (row.host !== null && hosts?.has(row.host) === false)) {
      this.#reportInvalid(shard);
      return false;
    }
    if (hosts === null ? row.type === 'summary' : ofWholeScans.has(row.type)) return false;
    if (this.#skip === 0) return true;
    this.#skip -= 1;
    return false;
  }

  #reportInvalid(shard: number): void {
    if (!this.#reported) this.#input.onInvalid(`Shard ${shard} has rows of other hosts, or invalid ones.`);
    this.#reported = true;
  }

  /** Null for the rows of an undivided scan, which a server has stored. */
  async #addressesOf(shard: number): Promise<AddressSet | null> {
    if (this.#divided === undefined) this.#divided = await this.#division();
    if (this.#divided === null) return null;
    const { store, scanId } = this.#input;
    this.#of ??= await store.shards.count(scanId);
    const known = this.#addresses.get(shard) ?? this.#divided.everyNth(BigInt(this.#of), BigInt(shard));
    if (this.#addresses.size >= maxAddressSets) this.#addresses.clear();
    this.#addresses.set(shard, known);
    return known;
  }

  async #division(): Promise<AddressSet | null> {
    const { store, scanId } = this.#input;
    const division = await store.shards.plan(scanId);
    return division && parseTargets(division.addresses, anyInterface).addresses;
  }
}

/** Which hosts a shard has. Rows of one host mostly follow each other. */
class HostsOfShard {
  readonly #addresses: AddressSet;
  #last: string | null = null;
  #hasLast = false;

  constructor(addresses: AddressSet) {
    this.#addresses = addresses;
  }

  has(host: string): boolean {
    if (host !== this.#last) {
      this.#hasLast = this.#addresses.has(host);
      this.#last = host;
    }
    return this.#hasLast;
  }
}

/**
 * Stores what a server of an earlier version has on disk of the shards of a scan, unless that was done.
 * @returns whether it was such a scan: its record has another order
 */
export async function importShards({ store, folder }: ImportInput, scanId: string): Promise<boolean> {
  if ((await store.shardResults.hasBlocks(scanId)) === false) await importFolders(store, scanId, folder);
  return await isOfEarlierVersion(folder);
}

/** Whether an earlier version has divided the scan: the rows of its record are in another order. */
export async function isOfEarlierVersion(folder: ScanFolder): Promise<boolean> {
  return (await stat(join(folder.path, folderName)).catch(() => null)) !== null;
}

interface ImportInput {
  store: Store;
  /** Of the scan. */
  folder: ScanFolder;
}

async function importFolders(store: Store, scanId: string, folder: ScanFolder): Promise<void> {
  const place = join(folder.path, folderName);
  const names = (await readdir(place).catch(() => [])).filter((name) => /^\d{1,6}$/.test(name));
  let blocks = 0;
  await store.transaction(async ({ shardResults }) => {
    blocks = 0;
    await shardResults.deleteOf(scanId);
    for (const name of names) {
      const shard = await readShard(new ScanFolder(join(place, name)));
      await shardResults.importShard(scanId, Number(name), shard, blocks + 1);
      blocks += shard.blocks.length;
    }
    await shardResults.setBlocks(scanId, blocks);
  }, 'read committed');
}

async function readShard(folder: ScanFolder): Promise<ImportedShard> {
  const shard: ImportedShard = { rows: 0, blocks: [], checkpoint: await readCheckpointBytes(folder) };
  const record = await openRecordFile(recordFiles(folder.path));
  if (record === null) return shard;
  try {
    for await (const piece of recordPieces(record)) {
      const rows = [...linesOf(piece)].length;
      shard.rows += rows;
      shard.blocks.push({ rows, bytes: await blockBytes(piece) });
    }
  } finally {
    await record.file.close();
  }
  return shard;
}

/** Deletes what an earlier version kept of the shards. @returns whether there was something */
export async function removeShards(folder: ScanFolder): Promise<boolean> {
  const found = await isOfEarlierVersion(folder);
  if (found) await rm(join(folder.path, folderName), { recursive: true, force: true });
  return found;
}

import { hash } from 'node:crypto';
import { damagedBlock } from './block-file.ts';
import type { PackedScore } from './record-code.ts';

/** Bytes of an entry of `shards.idx`: two halves of the key's hash, offset (double). */
export const indexEntryBytes = 16;

/** Bytes of an entry of `epss.bin`: CVE (double), score and percentile in billionths. */
export const epssEntryBytes = 16;

/** Unit of scores and percentiles in `epss.bin`. */
export const epssUnit = 1e-9;

/** The part of a record that is read with its product, and the location of the rest. */
export type PackedCore = [
  id: string,
  published: string,
  modified: string,
  cvss: PackedScore[],
  cwe: string[],
  source: string,
  /** The block of `records.bin`, the first line in it, and the number of lines about this CVE. */
  block: number,
  line: number,
  lines: number,
  /** JSON of its packed configurations, which takes a third of the memory; 0 = too long to be inlined. */
  configurations: string | 0,
];

/** Key of the shard of the newer files with the ids of all CVEs in them. */
export const replacedKey = '\u0001replaced';

/** Contents of a shard of a distribution's statements. */
export type PackedFix = [cve: string, packageName: string, fixed: string | null];

/** Hash of a key of `shards.idx`, as two halves. */
export function shardHash(key: string): [high: number, low: number] {
  const digest = hash('sha256', key, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

/** Key of the shard with the statements of a distribution about the CVEs of one year. */
export function fixesKey(distribution: string, release: string, cve: string): string {
  return `\u0001fixes\u0000${distribution}\u0000${release}\u0000${cve.slice(4, 8)}`;
}

/**
 * Parses an entry and checks its shape.
 *
 * @throws PortolanError `conflict`
 */
export function shaped<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) {
      throw damagedBlock('an entry differs from what was written', error);
    }
    throw error;
  }
}

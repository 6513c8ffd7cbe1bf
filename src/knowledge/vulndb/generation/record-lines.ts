import { cveKey } from '../cve-key.ts';
import type { CveRecord } from '../cve-record.ts';
import { sourceLocation, sourceLocations } from '../import/merge-records.ts';
import type { SpoolFile } from '../import/spool-file.ts';
import { damagedBlock, readRecordBlock } from './block-file.ts';
import { decodeRecord } from './record-code.ts';

/** A record in the spool file. */
export interface SpooledRecord {
  /** `recordKey` of CVE and source. */
  key: number;
  /** Milliseconds. */
  modified: number;
  offset: number;
  length: number;
}

/** The record of one source about one CVE, as it is stored. */
export interface RecordLine {
  /** `recordKey` of CVE and source. */
  key: number;
  modified: number;
  text: string;
}

/** The id of a packed record, without reading the rest of it. */
export function cveOfText(text: string): string {
  return /^\["(CVE-\d+-\d+)",/.exec(text)?.[1] ?? decodeStored(text).id;
}

export function recordLine(text: string): RecordLine {
  const { id, source, modified } = decodeStored(text);
  return {
    key: recordKey(cveKey(id) ?? 0, source),
    modified: Date.parse(modified),
    text,
  };
}

/** Passes lines through and notes of each CVE whether it was rejected. */
export function* notingRejected(
  lines: Iterable<RecordLine>,
  notes: Map<number, boolean>,
): Generator<RecordLine> {
  for (const line of lines) {
    const cve = cveOf(line.key);
    const { rejected, source } = decodeStored(line.text);
    notes.set(cve, (notes.get(cve) ?? false) || (rejected && source !== 'overrides'));
    yield line;
  }
}

/** Orders records by CVE, those of one CVE by source. @param cve `cveKey` of the CVE */
export function recordKey(cve: number, source: string): number {
  return cve * sourceLocations + sourceLocation(source);
}

/** `cveKey` of the CVE of a record key. */
export function cveOf(key: number): number {
  return Math.floor(key / sourceLocations);
}

/** The newest added record of each CVE and source, by key. */
export function* addedLines(spool: SpoolFile, added: SpooledRecord[]): Generator<RecordLine> {
  // The sort is stable: of equal dates the record added last comes last.
  const sorted = added.toSorted((a, b) => a.key - b.key || a.modified - b.modified);
  for (const [at, { key, modified, offset, length }] of sorted.entries()) {
    if (sorted[at + 1]?.key === key) continue;
    yield { key, modified, text: spool.read(offset, length) };
  }
}

/** The texts of each CVE, in the order of the sources. */
export function* linesByCve(old: Iterator<RecordLine>, added: Iterator<RecordLine>): Generator<string[]> {
  let group: string[] = [];
  let cve = -1;
  for (const { key, text } of mergedLines(old, added)) {
    const next = cveOf(key);
    if (next !== cve && group.length > 0) {
      yield group;
      group = [];
    }
    cve = next;
    group.push(text);
  }
  if (group.length > 0) yield group;
}

/** Merges two lists by key; of equal keys the added line wins unless it was modified earlier. */
export function* mergedLines(old: Iterator<RecordLine>, added: Iterator<RecordLine>): Generator<RecordLine> {
  let left = old.next();
  let right = added.next();
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.key < right.value.key)) {
      if (!left.done) yield left.value;
      left = old.next();
    } else {
      const both = !left.done && left.value.key === right.value.key ? left.value : null;
      yield both && both.modified > right.value.modified ? both : right.value;
      if (both) left = old.next();
      right = added.next();
    }
  }
}

export function decodeStored(text: string): CveRecord {
  try {
    return decodeRecord(text);
  } catch (error) {
    throw damagedBlock('a record differs from what was written', error);
  }
}

/** Lines of each block of a file of records in their order. @throws PortolanError `conflict` */
export function* readRecordLines(fd: number, size: number): Generator<string> {
  for (let offset = 0; offset < size; ) {
    const block = readRecordBlock(fd, offset, size);
    yield* block.text.split('\n');
    offset = block.end;
  }
}

import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isMissing } from '../atomic-file.ts';
import { linesBackward } from '../lines-backward.ts';
import { type AuditPosition, auditFiles } from './audit-files.ts';
import { hashOfLine } from './audit-hash.ts';
import { type AuditEvent, maxAuditLine } from './audit-record.ts';

/** A record as stored in the log. */
export interface AuditRecord extends AuditEvent {
  timestamp: string;
}

/** Position in the log: older records end before this byte of a file. */
export interface AuditPlace {
  /** Name of the file, without its folder. */
  file: string;
  before: number;
}

export interface ReadRecord {
  record: AuditRecord;
  /** JSON text as stored in the log. */
  line: string;
}

/** A line of the log with its parsed record; null for an invalid line. */
export interface ReadLine {
  read: ReadRecord | null;
  place: AuditPlace;
  /** Bytes. */
  size: number;
}

/** Range to read. */
export interface ReadRange {
  /** Exclusive upper end: older records than this one; absent = all. */
  from?: AuditPlace | undefined;
  /** Epoch milliseconds: skips days that ended before, whose files contain no later record. */
  since?: number | null;
}

/** Each file of the log covers a day, milliseconds. */
const dayMs = 86_400_000;

/** Damage of the log: what, and where. */
export type DamageReport = (reason: string, place: AuditPlace) => void;

const chainEnd = /,"prev_hash":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;

/**
 * The lines of an audit log, newest first, in constant memory. Reports damage and continues: an invalid line, a
 * modified record, and a record that does not follow the previous one.
 *
 * @throws system errors for an unreadable file
 */
export async function* auditLinesBackward(
  position: AuditPosition,
  onDamage: DamageReport,
  { from, since = null }: ReadRange = {},
): AsyncGenerator<ReadLine> {
  /** Required hash of the previous record. */
  let expected: string | null = null;
  for (const path of auditFiles(position).reverse()) {
    const file = basename(path);
    if (from && position.file === null && file > from.file) continue;
    if (since !== null && position.file === null && dayEnd(file) <= since) return;
    const to = from?.file === file ? from.before : Number.POSITIVE_INFINITY;
    for await (const { bytes, start, size } of linesOf(path, to)) {
      const place = { file, before: start };
      const [, previous = null, hash] = (bytes !== null && chainEnd.exec(bytes)) || [];
      if (bytes === null || previous === null) onDamage('not a record of an audit log', place);
      else if (hashOfLine(bytes) === null) onDamage('the record was changed: its hash does not match', place);
      if (hash && expected !== null && hash !== expected)
        onDamage('the chain breaks: records after this one were changed, removed or inserted', place);
      expected = previous;
      yield { read: bytes === null ? null : parsed(bytes), place, size };
    }
  }
}

function dayEnd(file: string): number {
  return Date.parse(file.slice(0, 10)) + dayMs;
}

async function* linesOf(path: string, to: number) {
  const size = await sizeOf(path);
  const file = await open(path, 'r');
  try {
    yield* linesBackward(file, Math.min(to, size), maxAuditLine);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    // The file was just archived.
    if (isMissing(error)) return 0;
    throw error;
  }
}

function parsed(bytes: string): ReadRecord | null {
  const line = Buffer.from(bytes, 'latin1').toString('utf8');
  try {
    const record: unknown = JSON.parse(line);
    return isRecord(record) ? { record, line } : null;
  } catch {
    return null;
  }
}

/** Checks the fields used by lists and filters; a modified log may contain anything. */
function isRecord(value: unknown): value is AuditRecord {
  if (!isObject(value)) return false;
  const { timestamp, event, outcome, actor, tenant, resource, details } = value;
  const hasTexts = [timestamp, event, outcome].every((text) => typeof text === 'string');
  const isOwned = tenant === null || typeof tenant === 'string';
  return (
    hasTexts && isOwned && isObject(actor) && isObject(details) && (resource === null || isObject(resource))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

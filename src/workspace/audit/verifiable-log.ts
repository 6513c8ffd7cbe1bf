import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditPosition,
  auditFiles,
  exists,
  lastHash,
  namesIn,
  openGuard,
  sizeOf,
} from './audit-files.ts';
import { knownHead, positionOfHead } from './audit-gaps.ts';
import { type AuditHead, type HeadReading, readHead } from './audit-head.ts';

/** A snapshot of an audit log, taken while no process appends. */
export interface VerifiableLog {
  files: string[];
  /** Bytes of each file. */
  sizes: number[];
  /** Its end; null if the log cannot be locked. */
  end: { hash: string; records: number | null; file: string } | 'unknown' | null;
}

/** @returns null if there is no log at this location */
export function verifiableLog(place: AuditPosition): VerifiableLog | null {
  let guard: DatabaseSync | null = null;
  let locked = false;
  try {
    if (!exists(place.folder)) return null;
    guard = openGuard(place.folder, 2000);
    guard.exec('begin exclusive');
    locked = true;
  } catch {
    // With read access only, verify what exists.
  }
  try {
    const files = auditFiles(place);
    const reading = readHead(place.folder);
    if (files.length === 0 && (reading === 'missing' || knownHead(reading)?.records === 0)) return null;
    return { files, sizes: files.map(sizeOf), end: locked ? endOf(place, reading) : null };
  } finally {
    guard?.close();
  }
}

/** A file that was just rotated, and has its last record, counts as present. */
function endOf(place: AuditPosition, reading: HeadReading): VerifiableLog['end'] {
  if (typeof reading === 'string') return 'unknown';
  if (reading.file === null) return { hash: reading.hash, records: null, file: place.file ?? place.folder };
  const path = positionOfHead(place, reading);
  const { hash, records } = reading;
  return records === 0 || isRotatedBeside(path, reading) ? null : { hash, records, file: path };
}

function isRotatedBeside(path: string, head: AuditHead): boolean {
  if (sizeOf(path) > 0) return false;
  return namesIn(dirname(path)).some((name) => {
    const beside = join(dirname(path), name);
    const stats = statSync(beside, { throwIfNoEntry: false });
    return stats?.ino === head.inode && stats.size >= head.size && lastHash(beside, head.size) === head.hash;
  });
}

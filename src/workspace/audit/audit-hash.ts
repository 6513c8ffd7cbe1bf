import { createHash } from 'node:crypto';

/** `prev_hash` of the very first record. */
export const firstHash = '0'.repeat(64);

const hashEnd = /,"hash":"([0-9a-f]{64})"\}$/;

/** A line of the log and its hash, computed without its member `hash`. */
export function chained(record: string, previous: string): { line: string; hash: string } {
  const body = `${record.slice(0, -1)},"prev_hash":"${previous}"`;
  const hash = auditHash(`${body}}`);
  return { line: `${body},"hash":"${hash}"}\n`, hash };
}

/** The hash of a line if it is correct, else null. */
export function hashOfLine(line: string): string | null {
  const named = hashEnd.exec(line)?.[1];
  if (named === undefined) return null;
  const body = Buffer.from(`${line.replace(hashEnd, '')}}`, 'latin1');
  return auditHash(body) === named ? named : null;
}

/** The hash of records and of the head of their chain: SHA-256, hexadecimal. */
export function auditHash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

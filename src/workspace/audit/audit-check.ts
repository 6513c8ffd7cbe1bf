import { open } from 'node:fs/promises';
import { textLinesOf } from '../text-lines.ts';
import { firstHash, hashOfLine } from './audit-hash.ts';
import { gapOf, gapText, maxAuditLine } from './audit-record.ts';
import type { VerifiableLog } from './verifiable-log.ts';

export interface AuditProblem {
  file: string;
  /** From 1. */
  line: number;
  reason: string;
}

export interface AuditReport {
  ok: boolean;
  files: number;
  records: number;
  /** Whether the chain starts with the first record; older files may have been archived. */
  complete: boolean;
  /** `hash` of the last record, or null. */
  last_hash: string | null;
  problems: AuditProblem[];
  /** Records that the log itself reports as lost before they were written; the chain is intact anyway. */
  gaps: AuditProblem[];
}

/** Maximum number of reported problems and gaps. */
const maxProblems = 100;

const previousHash = /,"prev_hash":"([0-9a-f]{64})","hash":"[0-9a-f]{64}"\}$/;

/**
 * Verifies the hash chain through consecutive files.
 * @param sizes bytes to check per file; the rest may be in progress
 * @param end known end of the chain; null or absent = not compared
 * @throws system errors for an unreadable file
 */
export async function checkAuditLog(
  files: readonly string[],
  { sizes, end }: { sizes?: readonly number[]; end?: VerifiableLog['end'] } = {},
): Promise<AuditReport> {
  const walk = new ChainWalk(end ?? null);
  for (const [index, path] of files.entries()) {
    const file = await open(path, 'r');
    try {
      const to = sizes?.[index] ?? (await file.stat()).size;
      walk.begin(path);
      for await (const { bytes, ended } of textLinesOf(file, { to, longest: maxAuditLine }))
        walk.take(bytes, ended);
    } finally {
      await file.close();
    }
  }
  return walk.report(files.length);
}

class ChainWalk {
  readonly #end: VerifiableLog['end'];
  readonly #problems: AuditProblem[] = [];
  readonly #gaps: AuditProblem[] = [];
  #endSeen = false;
  #file = '';
  #line = 0;
  #records = 0;
  #first: string | null = null;
  #last: string | null = null;

  constructor(end: VerifiableLog['end']) {
    this.#end = end;
  }

  begin(file: string): void {
    this.#file = file;
    this.#line = 0;
  }

  take(line: string, ended: boolean): void {
    this.#line += 1;
    if (!ended) {
      return this.#problem('the record is incomplete; the next start of the server removes or completes it');
    }
    const previous = previousHash.exec(line)?.[1];
    if (previous === undefined) return this.#problem('not a record of an audit log');
    this.#records += 1;
    if (hashOfLine(line) === null) this.#problem('the record was changed: its hash does not match');
    this.#takeGap(line, previous);
    this.#first ??= previous;
    // Continue from the stated hash, so that one change is reported once.
    this.#last = line.slice(-66, -2);
    if (isObject(this.#end) && this.#last === this.#end.hash) this.#endSeen = true;
  }

  #takeGap(line: string, previous: string): void {
    const gap = gapOf(line);
    if (gap?.reason === 'not_written') add(this.#gaps, this.#here(gapText(gap)));
    else if (gap) return this.#problem(`the chain breaks: ${gapText(gap)}`);
    if (this.#last === null || previous === this.#last) return;
    this.#problem('the chain breaks: records before this one were changed, removed or inserted');
  }

  report(files: number): AuditReport {
    this.#compareEnd();
    return {
      ok: this.#problems.length === 0,
      files,
      records: this.#records,
      complete: this.#first === null || this.#first === firstHash,
      last_hash: this.#last,
      problems: this.#problems,
      gaps: this.#gaps,
    };
  }

  #compareEnd(): void {
    if (this.#end === 'unknown') {
      this.#problem('.head is missing or damaged: cannot tell whether records after this one were removed');
    } else if (this.#end !== null && !this.#endSeen) {
      const { records, file } = this.#end;
      if (this.#file === '') this.begin(file);
      const reached = records === null ? '' : `: the log had reached its record ${records}, in ${file}`;
      this.#problem(`the end of the chain is missing${reached}; records after this one were removed`);
    }
  }

  #here(reason: string): AuditProblem {
    return { file: this.#file, line: this.#line, reason };
  }

  #problem(reason: string): void {
    add(this.#problems, this.#here(reason));
  }
}

function isObject(end: VerifiableLog['end']): end is Exclude<VerifiableLog['end'], 'unknown' | null> {
  return end !== null && end !== 'unknown';
}

function add(list: AuditProblem[], problem: AuditProblem): void {
  if (list.length < maxProblems) list.push(problem);
}

import { open } from 'node:fs/promises';
import { firstHash, hashOfLine, maxAuditLine } from './audit-chain.ts';
import { linesOf } from './text-lines.ts';

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
  /** Whether the chain begins with the first record of all; older files may have been archived. */
  complete: boolean;
  /** `hash` of the last record, or null. */
  last_hash: string | null;
  problems: AuditProblem[];
}

/** Problems that a report lists. */
const maxProblems = 100;

const previousHash = /,"prev_hash":"([0-9a-f]{64})","hash":"[0-9a-f]{64}"\}$/;

/**
 * Checks the hash chain through files that follow each other.
 * @param sizes bytes of each file to look at; the rest may be under way
 * @param head hash that the chain is known to have reached
 * @throws what the system says about a file that cannot be read
 */
export async function checkAuditLog(
  files: readonly string[],
  { sizes, head }: { sizes?: readonly number[] | null; head?: string | null } = {},
): Promise<AuditReport> {
  const walk = new ChainWalk(head ?? null);
  for (const [index, path] of files.entries()) {
    const file = await open(path, 'r');
    try {
      const to = sizes?.[index] ?? (await file.stat()).size;
      walk.begin(path);
      for await (const { bytes, ended } of linesOf(file, { to, longest: maxAuditLine }))
        walk.take(bytes, ended);
    } finally {
      await file.close();
    }
  }
  return walk.report(files.length);
}

class ChainWalk {
  readonly #head: string | null;
  readonly #problems: AuditProblem[] = [];
  #headSeen = false;
  #file = '';
  #line = 0;
  #records = 0;
  #first: string | null = null;
  #last: string | null = null;

  constructor(head: string | null) {
    this.#head = head;
  }

  begin(file: string): void {
    this.#file = file;
    this.#line = 0;
  }

  take(line: string, ended: boolean): void {
    this.#line += 1;
    if (!ended) {
      return this.#problem(
        'the record is not complete; the next start of the server removes or completes it',
      );
    }
    const previous = previousHash.exec(line)?.[1];
    if (previous === undefined) return this.#problem('this is no record of an audit log');
    this.#records += 1;
    if (hashOfLine(line) === null) this.#problem('the record was changed: its hash does not fit');
    if (this.#last !== null && previous !== this.#last) {
      this.#problem('the chain breaks: records before this one were changed, removed or put in');
    }
    this.#first ??= previous;
    // Go on from what the line says of itself, so that one change is reported once.
    this.#last = line.slice(-66, -2);
    if (this.#last === this.#head) this.#headSeen = true;
  }

  report(files: number): AuditReport {
    if (this.#line > 0 && this.#head !== null && !this.#headSeen) {
      this.#problem('the end of the chain is missing: records behind this one were removed');
    }
    return {
      ok: this.#problems.length === 0,
      files,
      records: this.#records,
      complete: this.#first === null || this.#first === firstHash,
      last_hash: this.#last,
      problems: this.#problems,
    };
  }

  #problem(reason: string): void {
    if (this.#problems.length < maxProblems) {
      this.#problems.push({ file: this.#file, line: this.#line, reason });
    }
  }
}

import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { readRules } from '../../plugins/rules/rule-reader.ts';
import { folderMode, writeFileAtomic } from '../../workspace/atomic-file.ts';

/** Copies of the rule files that were accepted last, for the time in which a file of the operator is invalid. */
export class AcceptedRules {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Without effect where the folder cannot be written. */
  async save(file: string, text: string): Promise<void> {
    const copy = this.#copyOf(file);
    try {
      if ((await readCopy(copy)) === text) return;
      await mkdir(this.#dir, { recursive: true, mode: folderMode });
      await writeFileAtomic(copy, text);
    } catch {
      // The copy is a convenience: a full disk must not cost the scan its rules.
    }
  }

  /** Null if the file was never accepted. */
  async restore(file: string): Promise<EvaluationRule[] | null> {
    const text = await readCopy(this.#copyOf(file));
    try {
      return text === null ? null : readRules(text, file);
    } catch {
      return null;
    }
  }

  #copyOf(file: string): string {
    return join(this.#dir, `${createHash('sha256').update(file).digest('hex')}.yaml`);
  }
}

async function readCopy(copy: string): Promise<string | null> {
  return await readFile(copy, 'utf8').catch(() => null);
}

import { readFileSync, statSync } from 'node:fs';
import { PortolanError } from '../domain/errors.ts';
import type { Evaluation } from './alert-state.ts';
import type { AlertValues, AlertVariable } from './alert-values.ts';

/** Largest file of alert rules, bytes. */
export const maxRulesBytes = 256 * 1024;

/** A checked condition. */
export interface AlertCondition {
  readonly text: string;
  /** The variables that it names. */
  readonly variables: readonly AlertVariable[];
  /**
   * Whether it holds. A comparison with an unknown value (NaN) is false, `!=` included.
   * @throws Error when it cannot be evaluated, e.g. on a division of integers by zero
   */
  holds(values: AlertValues): boolean;
}

export interface AlertRule {
  /** Unique. */
  name: string;
  condition: AlertCondition;
  /** How long the condition must hold before the alert fires, milliseconds. */
  forMs: number;
  /** As written. */
  action: string;
  /** The same as channels, `<channel_type>://<channel_name>`. */
  channels: string[];
  /** The condition where the file has none. */
  message: string;
}

/** What a rule file holds. */
export interface AlertRules {
  /** Null without a file; there are no rules then. */
  file: string | null;
  rules: readonly AlertRule[];
}

/**
 * Reads the first of the files that exists. One that is named must exist.
 *
 * @param named `alerts.file`, or empty
 * @throws PortolanError `configuration` with every problem as `file:line:column: message`
 */
export async function readAlertRules(files: readonly string[], named: string): Promise<AlertRules> {
  for (const file of files) {
    const text = readRules(file, file === named);
    if (text === null) continue;
    // The expression library takes 25 ms to load: most starts have no rules.
    const { loadAlertRules } = await import('./rules-file.ts');
    const { rules, issues } = loadAlertRules(text);
    if (issues.length > 0)
      throw rejection(issues.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`));
    return { file, rules };
  }
  return { file: null, rules: [] };
}

function rejection(problems: string[]): PortolanError {
  return new PortolanError('configuration', problems.join('\n'), { problems });
}

function readRules(file: string, required: boolean): string | null {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new Error('not a regular file');
    if (stat.size > maxRulesBytes) throw new Error(`larger than ${maxRulesBytes / 1024} KiB`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && !required) return null;
    throw rejection([`${file}: ${readProblems[code ?? ''] ?? message}`]);
  }
}

const readProblems: Record<string, string> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'permission denied',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'not UTF-8 text',
};

/** How an evaluation ends, whatever happens in it. */
export function evaluateCondition(condition: AlertCondition, values: AlertValues): Evaluation {
  try {
    return { holds: condition.holds(values) };
  } catch (error) {
    // The message of the library has a second and a third line with a caret.
    const { summary, message } = error as Error & { summary?: string };
    return { error: summary ?? message };
  }
}

import { readFileSync, statSync } from 'node:fs';
import { PortolanError } from '../domain/errors.ts';
import { type AlertRules, maxRulesBytes } from './alert-rules.ts';

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

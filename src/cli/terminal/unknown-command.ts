import type { PortolanError } from '../../domain/errors.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { usage } from './failure.ts';

/** The error for a first word that names no command: a target or a flag means a scan. */
export function unknownCommand(words: readonly string[], known: readonly string[]): PortolanError {
  const [name = ''] = words;
  if (name.startsWith('-'))
    return usage(`flag ${name} without a command`, `portolan scan ${words.join(' ')}`);
  // `scna` is two changes from `scan`, which is too much for a short word.
  const guess = nearest(name, known) ?? known.find((each) => lettersOf(each) === lettersOf(name)) ?? null;
  const isScan = looksLikeTarget(name) && (guess === null || /[.:/]/.test(name));
  const hint = isScan ? `portolan scan ${words.join(' ')}` : `portolan ${guess ?? '--help'}`;
  return usage(`"${name}" is no command`, hint);
}

function lettersOf(text: string): string {
  return [...text].sort().join('');
}

function looksLikeTarget(text: string): boolean {
  if (text.startsWith('@') || text.includes('://')) return true;
  if (!/[.:/]|^localhost$/.test(text)) return false;
  return parseTargets([text.replace(/:\d+$/, '')]).problems.length === 0;
}

import type { PortolanError } from '../../domain/errors.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { usage } from './failure.ts';
import { isVerb, meantCommand, startsScan } from './verbs.ts';

/** Commands of `server` that some call without it. */
const serverVerbs = ['start', 'stop', 'restart', 'reload', 'status', 'logs'];

/** The error for a first word that names no command: a target or a flag means a scan, a verb one of `scan`. */
export function unknownCommand(words: readonly string[], known: readonly string[]): PortolanError {
  const [name = '', ...rest] = words;
  if (name.startsWith('-')) {
    const at = words.findIndex((word) => known.includes(word));
    const moved = at < 0 ? ['scan', ...words] : [words[at], ...words.slice(at + 1), ...words.slice(0, at)];
    return usage(`flag ${name} without a command`, `portolan ${moved.join(' ')}`);
  }
  if (serverVerbs.includes(name))
    return usage(`"${name}" is no command`, ['portolan server', ...words].join(' '));
  if (isVerb(name)) return usage(`"${name}" is no command`, verbOfScan(name, rest));
  const guess = meantCommand(name, known);
  const isScan = looksLikeTarget(name) && (guess === null || /[.:/]/.test(name));
  const hint = isScan ? ['scan', ...words] : guess ? [guess, ...rest] : ['--help'];
  return usage(`"${name}" is no command`, ['portolan', ...hint].join(' '));
}

/** The error for a verb behind `scan` that is none of its commands. @param rest the words behind it */
export function unknownVerbOfScan(name: string, rest: readonly string[]): PortolanError {
  const message = `"${name}" is no command of scan (a host of that name: --targets ${name})`;
  return usage(message, verbOfScan(name, rest));
}

const scanVerbs = ['list', 'show', 'export', 'delete', 'cancel', 'resume', 'watch', 'diff'];

function verbOfScan(name: string, rest: readonly string[]): string {
  if (startsScan(name)) return ['portolan scan', ...(rest.length > 0 ? rest : ['TARGET'])].join(' ');
  const verb = meantCommand(name, scanVerbs);
  if (verb === null)
    return ['portolan workspace', meantCommand(name, ['gc', 'check', 'migrate']), ...rest].join(' ');
  const scan = { list: [], delete: ['ID'] }[verb] ?? ['latest'];
  return ['portolan scan', verb, ...(rest.length > 0 ? rest : scan)].join(' ');
}

function looksLikeTarget(text: string): boolean {
  if (text.startsWith('@') || text.includes('://')) return true;
  if (!/[.:/]|^localhost$/.test(text)) return false;
  return parseTargets([text.replace(/:\d+$/, '')]).problems.length === 0;
}

import type { PortolanError } from '../../domain/errors.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { usage } from './failure.ts';

export interface KnownFlag {
  flag: string;
  takesValue: boolean;
}

/**
 * The error for an unknown flag: it names the flag that was probably meant, with the value that follows on the command
 * line.
 * @param help the command that lists the flags, if none is near
 */
export function unknownFlag(
  word: string,
  next: string | undefined,
  known: readonly KnownFlag[],
  help: string,
): PortolanError {
  const [flag = '', ...rest] = word.split('=');
  const value = rest.length > 0 ? rest.join('=') : next;
  const guess = guessOf(flag, known);
  const meant = known.find((each) => each.flag === guess);
  const attached = known.find(
    (each) => each.takesValue && /^-\w$/.test(each.flag) && word.startsWith(each.flag),
  );
  const text = (takesValue: boolean, from: string | undefined) =>
    takesValue && from !== undefined && !from.startsWith('-') ? ` ${from}` : '';
  if (meant) return usage(`unknown flag ${flag}`, meant.flag + text(meant.takesValue, value));
  if (attached && !word.startsWith('--'))
    return usage(`unknown flag ${word}`, attached.flag + text(true, word.slice(attached.flag.length)));
  return usage(`unknown flag ${flag}`, help);
}

function guessOf(flag: string, known: readonly KnownFlag[]): string | null {
  const names = known.map((each) => each.flag);
  const folded = names.find((name) => name.length > 2 && name.toLowerCase() === flag.toLowerCase());
  if (folded !== undefined) return folded;
  const long = names.filter((name) => name.startsWith('--'));
  // `-profile` is one dash short.
  if (/^-\w{3,}/.test(flag) && long.includes(`-${flag}`)) return `-${flag}`;
  return flag.startsWith('--') ? nearest(flag, long) : null;
}

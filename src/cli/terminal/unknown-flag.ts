import type { Option } from 'commander';
import type { PortolanError } from '../../domain/errors.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { usage } from './failure.ts';

export interface KnownFlag {
  flag: string;
  takesValue: boolean;
  /** Of `--format`. */
  formats?: readonly string[];
}

/** The spellings of an option. */
export function knownFlags(option: Option): KnownFlag[] {
  const formats = option.long === '--format' ? formatsOf(option) : [];
  const spellings = [option.short, option.long].filter((flag) => flag !== undefined);
  return spellings.map((flag) => ({ flag, takesValue: option.required, formats }));
}

/** The values of a `--format`. */
export function formatsOf({ argChoices, description }: Option): readonly string[] {
  return (
    argChoices ??
    description.split(/[^\w.]/).filter((word) => word !== '' && word !== 'or' && word !== 'default')
  );
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
  if (guess?.includes(' ')) return usage(`unknown flag ${flag}`, guess);
  if (meant) return usage(`unknown flag ${flag}`, meant.flag + text(meant.takesValue, value));
  if (attached && !word.startsWith('--'))
    return usage(`unknown flag ${word}`, attached.flag + text(true, word.slice(attached.flag.length)));
  return usage(`unknown flag ${flag}`, help);
}

/** Flags of other programs, by the name here. */
const habits: Record<string, string> = {
  threads: 'concurrency',
  workers: 'concurrency',
  parallel: 'concurrency',
  speed: 'rate',
  pps: 'rate',
  host: 'targets',
  hosts: 'targets',
  ip: 'targets',
  input: 'target-file',
  debug: 'verbose',
  silent: 'quiet',
  label: 'scan-name',
};

function guessOf(flag: string, known: readonly KnownFlag[]): string | null {
  const names = known.map((each) => each.flag);
  const folded = names.find((name) => name.length > 2 && name.toLowerCase() === flag.toLowerCase());
  if (folded !== undefined) return folded;
  // `-profile` is one dash short.
  if (!/^--|^-\w{3,}/.test(flag)) return null;
  const name = flag.replace(/^--?/, '');
  const format = name === 'xml' ? 'nmap' : name;
  if (known.some(({ formats }) => formats?.includes(format))) return `--format ${format}`;
  const long = names.flatMap((each) => (each.startsWith('--') ? [each.slice(2)] : []));
  const habit = long.find((each) => each === (flag.startsWith('--') ? habits[name] : name));
  const guess = habit ?? (flag.startsWith('--') ? (mistyped(name, long) ?? shortened(name, long)) : null);
  return guess && `--${guess}`;
}

/** Compared word by word, as `exclude-hosts` is not `exclude-ports`; the first letter is seldom the wrong one. */
function mistyped(name: string, known: readonly string[]): string | null {
  const words = name.split('-');
  const near = known.filter((each) => {
    const others = each.split('-');
    if (words.join('') === others.join('')) return true;
    return (
      words.length === others.length && words.every((word, index) => isNear(word, others[index] as string))
    );
  });
  return nearest(name, near) ?? near[0] ?? null;
}

function isNear(word: string, other: string): boolean {
  return word === other || (word[0] === other[0] && nearest(word, [other]) !== null);
}

/** `out` for `output`, `severity` for `min-severity`, where only one is meant. */
function shortened(name: string, known: readonly string[]): string | null {
  if (name.length < 3) return null;
  const longer = known.filter((each) => each.startsWith(name)).sort((a, b) => a.length - b.length);
  const [shortest] = longer;
  if (shortest !== undefined) return longer.every((each) => each.startsWith(shortest)) ? shortest : null;
  const ending = known.filter((each) => each.endsWith(`-${name}`));
  return ending.length === 1 ? (ending[0] ?? null) : null;
}

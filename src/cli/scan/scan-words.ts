import type { Command, Option } from 'commander';
import { unknownVerbOfScan } from '../terminal/unknown-command.ts';
import { knownFlags } from '../terminal/unknown-flag.ts';
import { isVerb } from '../terminal/verbs.ts';
import type { NmapHabits } from './nmap/nmap-flags.ts';
import type { NmapReader, Replacement } from './nmap/nmap-reader.ts';

export interface ScanWords extends NmapHabits {
  words: readonly string[];
}

/**
 * The words of a command line with the flags of nmap replaced by those of `scan`, and `-p` by `--ports` or `--profile`.
 * A word that is the value of a flag is left alone.
 * @throws PortolanError `usage` for a flag of nmap that has no counterpart, and for an unknown cluster of letters
 */
export async function readScanWords(
  scan: Command,
  program: Command,
  words: readonly string[],
): Promise<ScanWords> {
  const commands = scan.commands.map((command) => command.name());
  const own = new Map([...scan.options, ...program.options].flatMap(byFlag));
  let reader: NmapReader | null = null;
  let read: Segment[] = [];
  let hasOperand = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    const next = words[index + 1];
    const portsOrProfile = word === '-p' ? next : attachedPorts(word);
    const known = own.get(word);
    // `scan status ID` is a command of its own; a target of that name goes to --targets.
    const isCommand = commands.includes(word) && !hasOperand;
    if (!hasOperand && isVerb(word) && !isCommand) throw unknownVerbOfScan(word, words.slice(index + 1));
    if (word === '--' || isCommand) {
      read.push({ words: words.slice(index) });
      break;
    }
    if (portsOrProfile !== undefined) {
      read.push({ words: [(await meansPorts(portsOrProfile)) ? '--ports' : '--profile', portsOrProfile] });
      if (word === '-p') index++;
    } else if (known?.required && next !== undefined) {
      reader?.ownFlag(word, next);
      read.push({ words: [word, next] });
      index++;
    } else if (known || !word.startsWith('-') || word === '-' || isTaken(word, own)) {
      hasOperand ||= !word.startsWith('-') || word === '-';
      read.push({ words: [word] });
    } else {
      reader ??= await readerOf(own, read);
      const { usesNext, ...replaced } = reader.read(word, next);
      if (replaced.isTiming) read = read.filter(({ isTiming }) => !isTiming);
      read.push(replaced);
      if (usesNext) index++;
    }
  }
  const { outputs = [], notes = [], always = [] } = reader ?? {};
  return { words: read.flatMap((segment) => segment.words), outputs, notes, always };
}

/** The words of `job submit` with `-p` replaced by `--ports` or `--profile`, as in `scan`. */
export async function readJobWords(
  submit: Command,
  program: Command,
  words: readonly string[],
): Promise<string[]> {
  const own = new Map([...submit.options, ...program.options].flatMap(byFlag));
  const read: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    const next = words[index + 1];
    const portsOrProfile = word === '-p' ? next : attachedPorts(word);
    if (word === '--') return [...read, ...words.slice(index)];
    if (portsOrProfile !== undefined)
      read.push((await meansPorts(portsOrProfile)) ? '--ports' : '--profile', portsOrProfile);
    else read.push(word, ...(own.get(word)?.required && next !== undefined ? [next] : []));
    if (word === '-p' || (own.get(word)?.required && portsOrProfile === undefined)) index++;
  }
  return read;
}

/** Words that belong together. */
type Segment = Omit<Replacement, 'usesNext'>;

async function readerOf(own: ReadonlyMap<string, Option>, before: readonly Segment[]): Promise<NmapReader> {
  const { NmapReader } = await import('./nmap/nmap-reader.ts');
  const reader = new NmapReader([...new Set(own.values())].flatMap(knownFlags));
  for (const { words } of before) reader.ownFlag(words[0] ?? '', words[1]);
  return reader;
}

function byFlag(option: Option): [string, Option][] {
  return [option.short, option.long].flatMap((flag) => (flag ? [[flag, option] as [string, Option]] : []));
}

/** `-p22`, `-p-`, `-pU:53`; letters alone are a cluster of flags. */
function attachedPorts(word: string): string | undefined {
  return word.startsWith('-p') && /[^a-z]/i.test(word.slice(1)) ? word.slice(2) : undefined;
}

/** Words that commander takes as they are: `-h`, `--rate=500`, `-r500`. */
function isTaken(word: string, own: ReadonlyMap<string, Option>): boolean {
  if (word === '-h' || word === '--help' || /^-r\d+$/.test(word)) return true;
  const equals = word.indexOf('=');
  return word.startsWith('--') && equals > 0 && own.has(word.slice(0, equals));
}

/**
 * Whether a value of `-p` is a port list. No profile has a name that is one. What no profile can be called is a port list
 * too if it is wrong: then the error is about ports.
 */
export async function meansPorts(value: string): Promise<boolean> {
  if (/^(?:[TUtu]:)?[\d,-]+$/.test(value) || !mayBeProfile(value)) return true;
  const [{ readsAsPorts }, { portCatalog }] = await Promise.all([
    import('../../domain/port.ts'),
    import('../../knowledge/ports.ts'),
  ]);
  return readsAsPorts(value, portCatalog);
}

/** A name, or a file; not `80/tcp` and `top1000`. */
function mayBeProfile(value: string): boolean {
  if (/^(?:\d+\/(?:tcp|udp)|top[-:_]?\d.*)$/i.test(value)) return false;
  return /^[a-z0-9][\w-]*$/i.test(value) || /[/\\]|\.(?:ya?ml|json)$/i.test(value);
}

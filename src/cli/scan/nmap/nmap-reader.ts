import type { PortolanError } from '../../../domain/errors.ts';
import { usage } from '../../terminal/failure.ts';
import type { OutputFormat } from '../../terminal/output.ts';
import { type KnownFlag, unknownFlag } from '../../terminal/unknown-flag.ts';
import { type NmapFlag, type NmapHabits, nmapGroups } from './nmap-flags.ts';

/** What stands in the place of a flag of nmap. */
export interface Replacement {
  words: readonly string[];
  /** The next word was its value. */
  usesNext: boolean;
  /** It sets what an earlier `-T` has set, or leaves that as usual. */
  isTiming?: boolean;
}

const byFlag = new Map<string, NmapFlag>(
  nmapGroups.flatMap(({ rows }) =>
    rows
      .filter(({ own }) => !own)
      .flatMap((row) => row.flags.map((flag) => [flag, row] as [string, NmapFlag])),
  ),
);

/** Letters of flags that may stand together behind one dash: they take no value. */
const ownLetters = ['v', 'q'];
const loneLetters = ['n', '6', 'F', 'O', 'A', 'd', ...ownLetters];

/** Names of nmap for `-T0` to `-T5`. */
const timings = ['paranoid', 'sneaky', 'polite', 'normal', 'aggressive', 'insane'];

/** Reads the flags of nmap on one command line in their order: a later one wins. */
export class NmapReader implements NmapHabits {
  readonly outputs: { file: string; format: OutputFormat }[] = [];
  readonly notes: string[] = [];
  readonly always: string[] = [];
  readonly #own: readonly KnownFlag[];
  #tcp: string | null = null;
  #isUdp = false;

  /** @param own flags of `scan`, for suggestions */
  constructor(own: readonly KnownFlag[]) {
    this.#own = own;
  }

  /** Takes notice of a flag of `scan` itself, and of its value. */
  ownFlag(flag: string, value = ''): void {
    if (flag !== '--scan-type') return;
    const types = value.split(',');
    this.#tcp = types.find((type) => type === 'syn' || type === 'connect') ?? null;
    this.#isUdp = types.includes('udp');
  }

  /** @throws PortolanError `usage` */
  read(word: string, next: string | undefined): Replacement {
    if (word.startsWith('--')) return this.#readLong(word, next);
    const row = byFlag.get(word);
    if (row) return this.#readRow(row, word, next);
    if (word === '-T' && next !== undefined && timingOf(next) !== undefined)
      return { ...this.read(`-T${timingOf(next)}`, undefined), usesNext: true };
    return this.#readCluster(word, next);
  }

  #readLong(word: string, next: string | undefined): Replacement {
    const [flag = '', ...rest] = word.split('=');
    const row = byFlag.get(flag);
    if (!row) throw this.#unknown(flag, rest.length > 0 ? rest.join('=') : next);
    if (rest.length === 0) return this.#readRow(row, flag, next);
    return { ...this.#readRow(row, flag, rest.join('=')), usesNext: false };
  }

  #readRow(row: NmapFlag, flag: string, next: string | undefined): Replacement {
    checkOffered(row, flag);
    const isTiming = flag.startsWith('-T');
    if (row.value === undefined) return { words: this.#apply(row, flag, ''), usesNext: false, isTiming };
    if (next === undefined || (next.length > 1 && next.startsWith('-')))
      throw usage(`${flag} needs a value`, `${flag} ${row.value}`);
    return { words: this.#apply(row, flag, next), usesNext: true };
  }

  #apply(row: NmapFlag, flag: string, value: string): readonly string[] {
    if (row.note !== undefined) this.notes.push(row.note);
    if (row.always !== undefined) this.always.push(`${flag}: ${row.always}`);
    if (row.transport !== undefined) return this.#combine(row.transport);
    if (row.output !== undefined) this.#write(row.output, value);
    return row.words?.(value) ?? [];
  }

  #combine(transport: string): readonly string[] {
    if (transport === 'udp') this.#isUdp = true;
    else this.#tcp = transport;
    const types = [this.#tcp, this.#isUdp ? 'udp' : null].filter((type) => type !== null);
    return ['--scan-type', types.join(',')];
  }

  #write(format: NonNullable<NmapFlag['output']>, file: string): void {
    if (format !== 'all') this.outputs.push({ file, format: format as OutputFormat });
    else {
      const base = `${file}.`;
      this.outputs.push(
        { file: `${base}nmap`, format: 'text' },
        { file: `${base}xml`, format: 'nmap' },
        { file: `${base}gnmap`, format: 'grepable' },
      );
    }
  }

  /** `-sSV`, `-vn`, `-dd`: letter by letter, and all or nothing. */
  #readCluster(word: string, next: string | undefined): Replacement {
    const [, first = '', rest = ''] = /^-(.)(.*)$/su.exec(word) ?? [];
    if (first === 'T' && timingOf(rest) !== undefined) return this.read(`-T${timingOf(rest)}`, undefined);
    if (first === 'd' && /^\d$/.test(rest)) return this.read('-d', undefined);
    if (first === 'v' && /^\d$/.test(rest))
      return { words: ['--verbosity', String(Math.min(3, Number(rest)))], usesNext: false };
    // A value behind a flag that is not offered, e.g. -PS22.
    const offered = byFlag.get(word.slice(0, 3));
    if (first === 'P' && offered) checkOffered(offered, word.slice(0, 3));
    const flags = lettersOf(first, rest);
    if (flags === null || rest === '') throw this.#unknown(word, next);
    const rows = flags.map((flag) => {
      const row = byFlag.get(flag) ?? null;
      if (row === null && !ownLetters.includes(flag.slice(1))) throw this.#unknown(word, next);
      return { flag, row };
    });
    for (const { flag, row } of rows) if (row) checkOffered(row, flag, word);
    const words = rows.flatMap(({ flag, row }) => (row ? this.#apply(row, flag, '') : [flag]));
    return { words, usesNext: false };
  }

  #unknown(word: string, next: string | undefined): PortolanError {
    const ofNmap = [...byFlag].map(([flag, { value }]) => ({ flag, takesValue: value !== undefined }));
    return unknownFlag(word, next, [...this.#own, ...ofNmap], 'portolan scan --help, portolan help nmap');
  }
}

/** The flags of a cluster; null if its letters do not stand together. */
function lettersOf(first: string, rest: string): string[] | null {
  if (first === 's') return [...rest].map((letter) => `-s${letter}`);
  const letters = [first, ...rest];
  return letters.every((letter) => loneLetters.includes(letter))
    ? letters.map((letter) => `-${letter}`)
    : null;
}

function timingOf(text: string): number | undefined {
  if (/^[0-5]$/.test(text)) return Number(text);
  const index = timings.indexOf(text.toLowerCase());
  return index === -1 ? undefined : index;
}

function checkOffered({ rejected }: NmapFlag, flag: string, word = flag): void {
  if (rejected === undefined) return;
  const inside = word === flag ? '' : ` (in ${word})`;
  throw usage(`${flag} of nmap is not offered${inside}`, rejected ?? 'portolan help nmap');
}

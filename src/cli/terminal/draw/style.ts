/** How text for people is drawn on one of the two streams. */
export interface TerminalStyle {
  /** Width of the terminal; 80 elsewhere, where nothing is cut or wrapped. */
  columns: number;
  terminal: boolean;
  color: boolean;
  /** Only ASCII: the locale is not UTF-8, or its fonts draw the other glyphs two columns wide. */
  ascii: boolean;
}

/** The part of a stream that decides; process.stdout or process.stderr in the program. */
export interface StyledStream {
  isTTY?: boolean;
  columns?: number;
}

const usualColumns = 80;

/** Of a pipe in the C locale. */
export const plainStyle: TerminalStyle = {
  columns: usualColumns,
  terminal: false,
  color: false,
  ascii: true,
};

/** @param flags global flags; `color` is false after --no-color */
export function styleOf(
  stream: StyledStream,
  flags: { color: boolean },
  env: NodeJS.ProcessEnv = process.env,
): TerminalStyle {
  const terminal = Boolean(stream.isTTY);
  return {
    columns: (terminal && stream.columns) || usualColumns,
    terminal,
    color: flags.color && isColored(terminal, env),
    ascii: !isUnicode(env),
  };
}

/** Of a stream. NO_COLOR is stronger than what forces color, which holds in pipes and for `TERM=dumb` too. */
function isColored(terminal: boolean, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false;
  if (isForced(env['FORCE_COLOR']) || isForced(env['CLICOLOR_FORCE'])) return true;
  return terminal && env['TERM'] !== 'dumb';
}

function isForced(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

/** Terminals of these languages draw glyphs of ambiguous width, such as `…` and `●`, two columns wide. */
const wideLanguages = /^(?:ja|ko|zh)(?:_|\.|$)/;

function isUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale) && !wideLanguages.test(locale);
}

/** What replaces the end of a text that is cut. */
export function ellipsisOf({ ascii }: Pick<TerminalStyle, 'ascii'>): string {
  return ascii ? '...' : '…';
}

/** Stands for what is not known. */
export function unknownOf({ ascii }: Pick<TerminalStyle, 'ascii'>): string {
  return ascii ? '-' : '–';
}

/** SGR codes that turn a color on and off. */
const codes = {
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
} as const;

export type TextColor = keyof typeof codes;

/** Text in a color, if the stream has colors. */
export function paint({ color }: Pick<TerminalStyle, 'color'>, text: string, name: TextColor | null): string {
  if (!color || name === null || text === '') return text;
  const [on, off] = codes[name];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

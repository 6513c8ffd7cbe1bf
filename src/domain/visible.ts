/**
 * What a reader does not see, beside control characters: format characters (bidi overrides, zero width, tags), line and
 * paragraph separators, everything that renders as nothing (fillers such as U+3164, variation selectors), and signs
 * that are blank without being a space (braille U+2800, a null note, a Khitan filler). For a character class.
 */
const hidden = '\\p{Cf}\\p{Zl}\\p{Zp}\\p{DI}\\u2800\\u{1d159}\\u{16fe4}';

/** With lone surrogates and all control characters: whatever moves a cursor, hides text or changes its order. */
const unprintable = new RegExp(`[\\p{Cc}\\p{Cs}${hidden}]`, 'gu');

/** The same without CR and LF, which end lines. */
const unprintableInLines = new RegExp(`[^\\P{Cc}\\r\\n]|[\\p{Cs}${hidden}]`, 'gu');

/** What JSON.stringify leaves as it is. */
const unprintableInJson = new RegExp(`[\\x7f-\\x9f${hidden}]`, 'gu');

/**
 * Marks on one letter that are shown; with more of them they cover the lines around. No script needs more than four
 * (Unicode Technical Standard 39, section 5.4).
 */
const manyMarks = /(\p{M}{4})(\p{M}+)/gu;

/**
 * One line of text with every unprintable character visible: `\xNN`, or `\u{...}` beyond Latin-1. A flood of combining
 * marks ends with `…`.
 */
export function visibleText(text: string): string {
  return withoutFloods(text.replace(unprintable, visibleCharacter));
}

/** CSV, HTML or XML with every unprintable character visible, as in `visibleText`; line ends stay. */
export function visibleMarkup(text: string): string {
  return withoutFloods(text.replace(unprintableInLines, visibleCharacter));
}

/** JSON or JSON Lines with the same meaning and nothing raw in it that a reader would not see. */
export function visibleJson(json: string): string {
  return json
    .replace(unprintableInJson, escapeUnits)
    .replace(manyMarks, (_flood, shown: string, rest: string) => shown + escapeUnits(rest));
}

function withoutFloods(text: string): string {
  return text.replace(manyMarks, '$1…');
}

function escapeUnits(text: string): string {
  return Array.from(
    { length: text.length },
    (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The same for text of several lines: line ends of all kinds become LF, TAB stays. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n|[\r\n]/)
    .map(visibleLine)
    .join('\n');
}

function visibleLine(line: string): string {
  return line.split('\t').map(visibleText).join('\t');
}

/** What stands for an unprintable character. */
export function visibleCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Control characters (C0, DEL, C1), format characters (bidi overrides, zero width, tags), line and paragraph separators,
 * lone surrogates, fillers and other characters that are drawn as nothing, and the combining marks after the fourth on one
 * character: whatever moves a cursor, hides text, changes its order or covers other lines.
 */
export const unprintable =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu;

/** One line of text with every unprintable character visible: `\xNN`, or `\u{...}` beyond Latin-1. */
export function visibleText(text: string): string {
  return text.replace(unprintable, visibleCharacter);
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

/** Escape of an unprintable character. */
export function visibleCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Text that a target sent: it may hold control characters, change the direction of writing, or be very long. */

/** Longer text is cut behind "Show all", characters. */
export const shownAtOnce = 200;

/** More is never put into the page; it is in the download. Characters. */
export const shownAtMost = 65_536;

/**
 * Control characters, what turns the direction of text or is drawn as nothing, separators of lines, halves of pairs, and the
 * combining marks after the fourth on one character.
 */
const invisible =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu;

/** Control and invisible characters become `\x1b`, `\u{202e}`; everything else stays. */
export function visibleText(text: string): string {
  return text.replace(invisible, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** Addresses and ids lose the middle: both ends tell them apart. */
export function cutMiddle(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const rest = Math.max(2, length - 1);
  const front = Math.ceil(rest * 0.6);
  return `${characters.slice(0, front).join('')}…${characters.slice(characters.length - (rest - front)).join('')}`;
}

/** Names and banners lose the end. Never cuts a character in two. */
export function cutEnd(text: string, length: number): string {
  // A code unit more than needed is enough to see whether there is more: text may be megabytes.
  const characters = Array.from(text.slice(0, length * 2 + 2));
  return characters.length <= length ? text : `${characters.slice(0, Math.max(1, length - 1)).join('')}…`;
}

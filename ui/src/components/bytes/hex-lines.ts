/** A range of bytes, `to` exclusive. */
export interface ByteRange {
  from: number;
  to: number;
}

/** One line of a hex view. */
export interface HexLine {
  /** Of its first byte. */
  offset: number;
  /** `0a`. */
  hex: string[];
  /** Printable ASCII, `.` for the rest. */
  text: string[];
  /** Whether each byte is part of a match. */
  isMatch: boolean[];
}

export function hexLine(
  bytes: Uint8Array,
  offset: number,
  width: number,
  matches: readonly ByteRange[],
): HexLine {
  const part = [...bytes.subarray(offset, offset + width)];
  return {
    offset,
    hex: part.map((byte) => byte.toString(16).padStart(2, '0')),
    text: part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')),
    isMatch: part.map((_, index) =>
      matches.some(({ from, to }) => offset + index >= from && offset + index < to),
    ),
  };
}

/** `0010`, with as many digits as the last offset needs, at least four. */
export function offsetText(offset: number, length: number): string {
  const digits = Math.max(4, Math.max(0, length - 1).toString(16).length);
  return offset.toString(16).padStart(digits, '0');
}

/** Neighbors with the same mark together, so that a match is one stretch. */
export function stretches(
  { hex, text, isMatch }: HexLine,
  [from, to]: readonly [number, number],
): { isMatch: boolean; hex: string; text: string }[] {
  const found: { isMatch: boolean; hex: string; text: string }[] = [];
  for (let index = from; index < Math.min(to, hex.length); index++) {
    const last = found.at(-1);
    const [mark, pair, character] = [isMatch[index] === true, hex[index] ?? '', text[index] ?? ''];
    if (last?.isMatch === mark) {
      last.hex += ` ${pair}`;
      last.text += character;
    } else found.push({ isMatch: mark, hex: pair, text: character });
  }
  return found;
}

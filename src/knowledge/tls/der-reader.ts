/** An element of ASN.1 in DER, or in BER with a definite length (X.690, 8.1). */
export interface DerElement {
  tag: number;
  content: Buffer;
  /** Offset of the next element. */
  end: number;
}

/** The element at an offset, with a one-byte tag and less than 16 MiB; null if incomplete. */
export function elementAt(bytes: Buffer, at: number): DerElement | null {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return null;
  const more = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + more;
  if (more > 3 || (first >= 0x80 && more === 0) || start > bytes.length) return null;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  const end = start + length;
  return end > bytes.length ? null : { tag, content: bytes.subarray(start, end), end };
}

/** The elements of a content, at most `most`; an unreadable element ends the list. */
export function elementsIn(content: Buffer, most: number): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < content.length && elements.length < most; ) {
    const element = elementAt(content, at);
    if (element === null) break;
    elements.push(element);
    at = element.end;
  }
  return elements;
}

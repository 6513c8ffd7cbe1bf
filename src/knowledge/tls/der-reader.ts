/** An element of ASN.1 in DER (X.690, 8.1). */
export interface DerElement {
  tag: number;
  content: Buffer;
  /** Where the next one begins. */
  end: number;
}

/** The element at a place, with a tag of one byte and less than 16 MiB; null when there is none in full. */
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

/** The elements that a content consists of, up to a number; what cannot be read ends the list. */
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

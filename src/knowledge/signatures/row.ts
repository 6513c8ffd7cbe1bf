import type { Signature } from './signature.ts';

/** `<v>` in the pattern of a row. */
const versionGroup = String.raw`(?P<version>\d+(?:\.\d+)*)`;

/**
 * Signatures that differ in little more than names, one per row.
 *
 * @param service service name, or null if the text does not identify the protocol
 * @returns function for a row: id; product; vendor in CPE spelling, with the product after a colon if it has a CPE
 *   name; pattern, with `<v>` for a version; a real text and the version expected from it; differences from other
 *   rows
 */
export function rows(service: string | null, source: string, certainty = 0.95) {
  return (
    id: string,
    product: string,
    maker: string | null,
    pattern: string,
    text: string,
    version: string | null = null,
    more: Partial<Signature> = {},
  ): Signature => {
    const [vendor = null, cpeProduct] = maker?.split(':') ?? [];
    const reads = pattern.includes('<v>');
    return {
      id,
      service,
      source,
      pattern: pattern.replaceAll('<v>', versionGroup),
      product,
      vendor,
      ...(reads ? { version: '{version}' } : {}),
      ...(vendor && cpeProduct
        ? { cpe: { part: 'a', vendor, product: cpeProduct, ...(reads ? { version: '{version}' } : {}) } }
        : {}),
      certainty,
      examples: [{ text, version }],
      ...more,
    };
  };
}

import type { Signature } from './signature.ts';

/** `<v>` in the pattern of a row. */
const versionGroup = String.raw`(?P<version>\d+(?:\.\d+)*)`;

/**
 * Signatures that differ in little more than names, a row each.
 *
 * @param service service name, or null when the text says nothing about the protocol
 * @returns a row: id; product; maker as CPE names it, with the product behind a colon where it has a CPE name; pattern,
 *   in which `<v>` stands for a version; a real text and the version that it must give; what is different from other rows
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

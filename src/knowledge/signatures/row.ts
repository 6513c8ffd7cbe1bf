import type { Signature, SignatureExample } from './signature.ts';

/** `<v>` in the pattern of a row. */
const versionGroup = String.raw`(?P<version>\d+(?:\.\d+)*)`;
/**
 * Where the pattern goes on behind the version, what a builder appended to it is skipped; lazy, so that a pattern with a
 * suffix of its own comes first.
 */
const builtVersionGroup = String.raw`(?:${versionGroup}(?:[-_+~.]?(?P<suffix>[A-Za-z0-9][\w.+~-]*))??)`;

/** The pattern that matches a text as it is. */
export const literalPattern = (text: string) =>
  text
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n');

/**
 * Signatures that differ in little more than names, one per row.
 *
 * @param service service name, or null if the text does not identify the protocol
 * @param common what else all of them have
 * @returns function for a row: id; product; vendor in CPE spelling, with the product after a colon if it has a CPE
 *   name, and `o:` before both if that names an operating system; pattern, with `<v>` for a version; a real text and
 *   the version expected from it, or a list of examples; differences from other rows. Its `exact` and `prefix` derive
 *   the pattern from the text.
 */
export function rows(
  service: string | null,
  source: string,
  certainty = 0.95,
  common: Partial<Signature> = {},
) {
  const row = (
    id: string,
    product: string | null,
    maker: string | null,
    pattern: string,
    text: string | SignatureExample[],
    version: string | null = null,
    more: Partial<Signature> = {},
  ): Signature => {
    const fullPattern = pattern.replace(/<v>$/, versionGroup).replaceAll('<v>', builtVersionGroup);
    const read = fullPattern.includes('(?P<version>') ? { version: '{version}' } : {};
    const built = fullPattern.includes('(?P<suffix>') ? { revision: '{suffix}' } : {};
    const system = maker?.startsWith('o:') ?? false;
    const [vendor = null, cpeProduct] = (system ? maker?.slice(2) : maker)?.split(':') ?? [];
    return {
      id,
      service,
      source,
      pattern: fullPattern,
      product,
      vendor,
      ...read,
      ...built,
      ...(vendor && cpeProduct
        ? { cpe: { part: system ? 'o' : 'a', vendor, product: cpeProduct, ...read } }
        : {}),
      certainty,
      examples: typeof text === 'string' ? [{ text, version }] : text,
      ...common,
      ...more,
    };
  };

  /** The evidence is this text and nothing else. */
  const exact = (
    id: string,
    product: string,
    maker: string | null,
    text: string,
    more: Partial<Signature> = {},
  ) => row(id, product, maker, `^${literalPattern(text)}$`, text, null, more);

  /** The evidence begins like this text: up to and with its version, or with all of it if it has none. */
  const prefix = (
    id: string,
    product: string,
    maker: string | null,
    text: string,
    version: string | null = null,
    more: Partial<Signature> = {},
  ) => {
    const pattern =
      version === null ? literalPattern(text) : `${literalPattern(text.slice(0, text.indexOf(version)))}<v>`;
    return row(id, product, maker, `^${pattern}`, text, version, more);
  };

  return Object.assign(row, { exact, prefix });
}

/** Protocols recognized by the form of their first bytes, without a product; a name is that of the service. */
export function protocolRows(group: string, certainty: number) {
  return (name: string, pattern: string, text: string, more: Partial<Signature> = {}) =>
    rows(name, 'banner.raw', certainty)(`${group}.${name}`, null, null, pattern, [{ text }], null, more);
}

/** What rows add: the device that a text reveals. */
export const device = (type: string, vendor: string) => ({ hardware: { type, vendor } });

/** What rows add: the product runs on Windows only. */
export const onWindows = { os: { family: 'windows' } };

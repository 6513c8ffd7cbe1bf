/** Attributes of a CPE name in its URI form: part, vendor, product, version, update, edition, language. */
const uriAttributes = 7;

/**
 * A CPE 2.3 formatted string as a CPE 2.2 URI (NIST IR 7695, section 6.1.2): `cpe:2.3:a:f5:nginx:1.24.0:*:…` becomes
 * `cpe:/a:f5:nginx:1.24.0`. Null for anything else.
 */
export function cpeUri(formatted: string): string | null {
  if (!/^cpe:2\.3:[aoh]:/.test(formatted)) return null;
  // Separators are the colons without a preceding backslash.
  const attributes = formatted.match(/(?:\\.|[^:\\])+/g)?.slice(2, 2 + uriAttributes) ?? [];
  const packed = attributes.map(uriAttribute);
  while (packed.at(-1) === '') packed.pop();
  return packed.length < 3 ? null : `cpe:/${packed.join(':')}`;
}

function uriAttribute(value: string): string {
  if (value === '*') return '';
  if (value === '-') return '-';
  return value.replace(/\\(.)|[^\w.\-\\]/g, (_match, escaped?: string) => {
    if (escaped === undefined) return '';
    return /[\w.-]/.test(escaped) ? escaped : encodeURIComponent(escaped).replace(/[!'()*]/g, percent);
  });
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

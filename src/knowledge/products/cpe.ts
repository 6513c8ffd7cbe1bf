/** The part attribute of a CPE name: application, operating system, hardware. */
export type CpePart = 'a' | 'o' | 'h';

/** The known attributes of a CPE name; a missing or empty one means ANY (`*`). */
export interface CpeName {
  part: CpePart;
  vendor: string;
  product: string;
  version?: string | null;
  update?: string | null;
}

/**
 * Writes a CPE 2.3 formatted string (NIST IR 7695, section 6.2). Letters become lower case, blanks become `_`, and
 * every other character outside `A-Z a-z 0-9 _ - .` is escaped with a backslash. Characters outside printable ASCII are
 * not allowed in a CPE name and are dropped.
 */
export function formatCpe(name: CpeName): string {
  const attributes = [name.vendor, name.product, name.version, name.update].map(formatAttribute);
  return `cpe:2.3:${name.part}:${attributes.join(':')}:*:*:*:*:*:*`;
}

function formatAttribute(value: string | null | undefined): string {
  if (!value) return '*';
  let text = '';
  for (const character of value.toLowerCase()) {
    if (/[a-z0-9_.-]/.test(character)) text += character;
    else if (character === ' ') text += '_';
    else if (/[!-~]/.test(character)) text += `\\${character}`;
  }
  // A lone hyphen would mean "not applicable".
  if (text === '-') return '\\-';
  return text === '' ? '*' : text;
}

/**
 * The attributes of a CPE name as text, lower case and without escapes. `*` is ANY, `-` is NA (not applicable);
 * a value that really is an asterisk or a hyphen keeps its backslash.
 */
export interface Cpe {
  part: CpePart | '*' | '-';
  vendor: string;
  product: string;
  version: string;
  update: string;
  edition: string;
  language: string;
  swEdition: string;
  targetSw: string;
  targetHw: string;
  other: string;
}

/**
 * Reads a CPE 2.3 formatted string (NIST IR 7695, section 6.2) or a CPE 2.2 URI (section 6.1). Null when it is neither,
 * or when a value contains a wildcard, which names of products and vulnerable versions never do.
 */
export function parseCpe(text: string): Cpe | null {
  const lower = text.trim().toLowerCase();
  if (lower.startsWith('cpe:2.3:')) return cpeOf(splitFormatted(lower.slice('cpe:2.3:'.length)), 11);
  if (lower.startsWith('cpe:/')) return cpeOf(splitUri(lower.slice('cpe:/'.length)), null);
  return null;
}

/** `openbsd:openssh`: the index key of a CPE 2.3 name, equal for every spelling of it; null for an invalid name. */
export function productKey(formatted: string): string | null {
  const found = /^cpe:2\.3:[aoh*-]:((?:\\.|[^:\\])+:(?:\\.|[^:\\])+):/i.exec(formatted);
  return found?.[1] === undefined ? null : found[1].replace(/\\(.)/g, '$1').toLowerCase();
}

/** How two attribute values compare (NIST IR 7696, table 6-2, without wildcards). */
export function compareAttribute(
  source: string,
  target: string,
): 'equal' | 'superset' | 'subset' | 'disjoint' {
  if (source === target) return 'equal';
  if (source === '*') return 'superset';
  return target === '*' ? 'subset' : 'disjoint';
}

function cpeOf(values: (string | null)[], needed: number | null): Cpe | null {
  if (needed !== null && values.length !== needed) return null;
  if (values.length > 11 || values.some((value) => value === null)) return null;
  const at = (index: number): string => values[index] ?? '*';
  const part = at(0);
  if (!/^[aoh*-]$/.test(part)) return null;
  return {
    part: part as Cpe['part'],
    vendor: at(1),
    product: at(2),
    version: at(3),
    update: at(4),
    edition: at(5),
    language: at(6),
    swEdition: at(7),
    targetSw: at(8),
    targetHw: at(9),
    other: at(10),
  };
}

/** Splits at unescaped colons; null stands for an invalid value. */
function splitFormatted(text: string): (string | null)[] {
  if (!text.includes('\\')) return text.split(':').map(formattedValue);
  return (text.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []).map((piece, index) =>
    formattedValue(index === 0 ? piece : piece.slice(1)),
  );
}

function formattedValue(text: string): string | null {
  if (text === '*' || text === '-') return text;
  if (text === '\\*' || text === '\\-') return text;
  if (/^[a-z0-9._]+$/.test(text)) return text;
  if (text === '' || /[^!-~]/.test(text)) return null;
  if (/^[*?]|[^\\][*?]/.test(text.replace(/\\\\/g, '__'))) return null;
  return text.replace(/\\(.)/g, '$1');
}

/**
 * `cpe:/a:vendor:product:version:update:edition:language`. An edition that begins with a tilde packs five
 * attributes: `~edition~sw_edition~target_sw~target_hw~other`. An empty or missing value is ANY.
 */
function splitUri(text: string): (string | null)[] {
  const pieces = text.split(':');
  if (pieces.length > 7) return [null];
  const values = pieces.map((piece) => uriValue(piece));
  const edition = pieces[5] ?? '';
  if (!edition.startsWith('~')) return values;
  const packed = edition.slice(1).split('~');
  if (packed.length !== 5) return [null];
  const [ed = null, swEdition = null, targetSw = null, targetHw = null, other = null] = packed.map(uriValue);
  return [...values.slice(0, 5), ed, values[6] ?? '*', swEdition, targetSw, targetHw, other];
}

function uriValue(text: string): string | null {
  if (text === '') return '*';
  if (text === '-') return '-';
  if (/%(?![0-9a-f]{2})|[^!-~]/.test(text)) return null;
  // %01 and %02 are the wildcards of the URI form.
  if (/%0[12]/.test(text)) return null;
  const value = text.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  if (/[^!-~]/.test(value)) return null;
  return value === '*' || value === '-' ? `\\${value}` : value.toLowerCase();
}

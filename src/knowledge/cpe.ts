/** The part of a CPE name that says what kind of thing it names: application, operating system, hardware. */
export type CpePart = 'a' | 'o' | 'h';

/** The attributes of a CPE name that are known; a missing or empty one means ANY (`*`). */
export interface CpeName {
  part: CpePart;
  vendor: string;
  product: string;
  version?: string | null;
  update?: string | null;
}

/**
 * Writes a CPE 2.3 formatted string (NIST IR 7695, section 6.2). Letters become lower case, blanks become `_`,
 * and every other character outside `A-Z a-z 0-9 _ - .` is escaped with a backslash. Characters that are not
 * printable ASCII have no place in a CPE name and are left out.
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

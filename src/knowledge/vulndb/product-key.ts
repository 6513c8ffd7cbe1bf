import type { CveRecord } from './cve-record.ts';

/** Parts of a CPE 2.3 formatted string; a colon behind a backslash is none of its separators. */
const cpePattern = /^cpe:2\.3:[aho*-]:((?:[^:\\]|\\.)+):((?:[^:\\]|\\.)+)(?::(?:[^:\\]|\\.)*){8}$/i;

/** Characters of a CPE name that are read. */
const cpeLimit = 1024;

/** Whether a text is a CPE 2.3 formatted string. */
export function isCpe(text: string): boolean {
  return text.length <= cpeLimit && cpePattern.test(text);
}

/** One spelling for vendor and product, whether they came escaped or not. */
export function vulndbProductKey(vendor: string, product: string): string {
  return `${plain(vendor)}\u0000${plain(product)}`;
}

/** Products that a record calls vulnerable; what they run on is not among them. */
export function vulnerableProducts(record: Pick<CveRecord, 'configurations'>): Set<string> {
  const keys = new Set<string>();
  for (const { nodes } of record.configurations) {
    for (const { matches } of nodes) {
      for (const { vulnerable, cpe } of matches) {
        const [, vendor, product] = (vulnerable && cpePattern.exec(cpe)) || [];
        if (vendor !== undefined && product !== undefined) keys.add(vulndbProductKey(vendor, product));
      }
    }
  }
  return keys;
}

function plain(value: string): string {
  return value.replace(/\\(.)/g, '$1').toLowerCase();
}

import type { CveRecord } from './cve-record.ts';

/** Parts of a CPE 2.3 formatted string; an escaped colon is not a separator. */
const cpePattern = /^cpe:2\.3:[aho*-]:((?:[^:\\]|\\.)+):((?:[^:\\]|\\.)+)(?::(?:[^:\\]|\\.)*){8}$/i;

/** Maximum length of a CPE name, characters. */
const cpeLimit = 1024;

/** Whether a text is a CPE 2.3 formatted string. */
export function isCpe(text: string): boolean {
  return text.length <= cpeLimit && cpePattern.test(text);
}

/** One spelling for vendor and product, escaped or not. */
export function vulndbProductKey(vendor: string, product: string): string {
  return `${plain(vendor)}\u0000${plain(product)}`;
}

/** Products that a record calls vulnerable, without the platforms that they run on. */
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

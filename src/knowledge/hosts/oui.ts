import { readFileSync, statSync } from 'node:fs';
import { vendorPrefixes } from './oui-table.ts';

/** Paths of the IEEE registry (ieee-data) and of the file that nmap derives from it. The first that exists is used. */
const registryFiles = [
  '/usr/share/ieee-data/oui.txt',
  '/usr/share/ieee-data/oui.csv',
  '/usr/share/nmap/nmap-mac-prefixes',
];

/** Maximum size of a registry, bytes. */
const maxRegistryBytes = 33_554_432;

/** Maximum length of a vendor name, characters. */
const maxVendorLength = 64;

/** Vendors by prefix, six hex digits in upper case. */
type Registry = ReadonlyMap<string, string>;

let builtin: Registry | null = null;
let installed: Registry | null = null;

/**
 * The vendor of a network card. Locally administered addresses (virtual machines, containers, phones with private
 * addresses) and group addresses have none.
 *
 * @param mac `00:0c:29:12:34:56`
 * @param registry read besides the table; by default the system's, loaded at the first use
 */
export function vendorOf(mac: string, registry?: Registry): string | null {
  const prefix = /^([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]/i
    .exec(mac)
    ?.slice(1)
    .join('')
    .toUpperCase();
  if (!prefix || (Number.parseInt(prefix.slice(0, 2), 16) & 0b11) !== 0) return null;
  builtin ??= builtinRegistry();
  const known = builtin.get(prefix);
  if (known !== undefined) return known;
  installed ??= registry ? installed : installedRegistry();
  return (registry ?? installed)?.get(prefix) ?? null;
}

function builtinRegistry(): Registry {
  const entries = Object.entries(vendorPrefixes).flatMap(([vendor, prefixes]) =>
    prefixes
      .trim()
      .split(/\s+/)
      .map((prefix) => [prefix, vendor] as const),
  );
  return new Map(entries);
}

function installedRegistry(): Registry {
  for (const file of registryFiles) {
    try {
      if (statSync(file).size <= maxRegistryBytes) return readRegistry(readFileSync(file, 'utf8'));
    } catch {
      // Not installed.
    }
  }
  return new Map();
}

/**
 * Reads `00000C Cisco Systems` (nmap), `00000C     (base 16)              Cisco Systems, Inc` (oui.txt of the IEEE) and
 * `MA-L,00000C,"Cisco Systems, Inc",...` (oui.csv); skips other lines.
 */
export function readRegistry(text: string): Registry {
  const vendors = new Map<string, string>();
  const line = /^(?:MA-L,)?([0-9A-F]{6})(?:,|\s+(?:\(base 16\)\s+)?)(?:"([^"\n]*)"|([^"\n,][^\n]*))/gm;
  for (const [whole, prefix = '', quoted, plain = ''] of text.matchAll(line)) {
    const cell = whole.startsWith('MA-L,') ? plain.split(',', 1).join() : plain;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    const name = (quoted ?? cell)
      .replace(/[\x00-\x1f\x7f]/g, ' ')
      .trim()
      .slice(0, maxVendorLength);
    if (name !== '') vendors.set(prefix, name);
  }
  return vendors;
}

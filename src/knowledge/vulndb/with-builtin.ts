import { aliasesOf } from '../products/cpe-aliases.ts';
import { builtinCves, builtinRecord } from './builtin.ts';
import type { CveRecord, CveSource } from './cve-record.ts';

/** Maximum number of products with cached records; most services of a scan belong to few products. */
const maxRememberedProducts = 256;

/** The imported data, supplemented by the builtin catalog; without imported data the builtin catalog alone. */
export function withBuiltin(imported: CveSource | null): CveSource {
  if (imported === null) return builtinCves;
  const remembered = new Map<string, CveRecord[]>();
  return {
    version: imported.version,
    lacks: imported.lacks,
    lookup(vendor, product) {
      const key = `${vendor} ${product}`;
      const known = remembered.get(key);
      if (known) return known;
      const own = imported.lookup(vendor, product).map(completed);
      const records = [...own, ...lackingIn(imported, vendor, product)];
      if (remembered.size >= maxRememberedProducts) remembered.clear();
      remembered.set(key, records);
      return records;
    },
    rank(id) {
      const { kev, epss } = imported.rank(id);
      return { kev: kev ?? builtinCves.rank(id).kev, epss };
    },
    fixes: (distribution, release, cve) => imported.fixes(distribution, release, cve),
    knowsDistribution: (distribution, release) => imported.knowsDistribution(distribution, release),
  };
}

/** A record whose missing title and score come from the builtin catalog. */
function completed(record: CveRecord): CveRecord {
  const builtin = builtinRecord(record.id);
  if (builtin === null) return record;
  const { title, cvss } = record;
  if (title !== null && cvss.length > 0) return record;
  const { id, published, modified, cwe, rejected, source } = record;
  return {
    id,
    title: title ?? builtin.title,
    // Long parts are read on first access.
    get description() {
      return record.description;
    },
    published,
    modified,
    cvss: cvss.length > 0 ? cvss : builtin.cvss,
    cwe,
    get references() {
      return record.references;
    },
    get configurations() {
      return record.configurations;
    },
    rejected,
    source,
  };
}

/** Builtin records of a product that the imported data has under none of its names. */
function lackingIn(imported: CveSource, vendor: string, product: string): CveRecord[] {
  const builtin = builtinCves.lookup(vendor, product);
  if (builtin.length === 0) return [];
  const covered = new Set(
    aliasesOf(vendor, product).flatMap((name) =>
      imported.lookup(name.vendor, name.product).map(({ id }) => id),
    ),
  );
  return builtin.filter(({ id }) => !covered.has(id));
}

import { formatCpe } from '../../products/cpe.ts';
import {
  boundOfSign,
  type Configuration,
  type CpeMatch,
  type CveRecord,
  type CvssScore,
  unbounded,
  type VersionBounds,
} from '../cve-record.ts';
import { isCpe } from '../product-key.ts';
import {
  cutText,
  type Fields,
  listAt,
  objectAt,
  optionalText,
  RecordProblem,
  textAt,
  timeAt,
} from './checked-fields.ts';
import { configurationsAt, cveIdAt, cvssAt, descriptionAt, referencesAt } from './import-nvd.ts';

/** Maximum number of entries of a list. */
const entryLimit = 10_000;
/** Maximum number of CPE matches derived from one record. */
const matchLimit = 20_000;
/** Maximum length of a title, characters. */
const titleLimit = 256;
/** Maximum length of a vendor, product or version, characters. */
const nameLimit = 2048;

/**
 * Reads a CVE 5 record with the containers of the CNA and of others (ADP), who may have added products, scores and
 * weaknesses. Products come from `cpeApplicability` where a container states it, else from `affected`.
 *
 * @throws RecordProblem
 */
export function readCve5Record(value: unknown): CveRecord {
  const record = objectAt(value, 'record');
  const metadata = objectAt(record['cveMetadata'], 'cveMetadata');
  const id = cveIdAt(metadata['cveId'], 'cveMetadata.cveId');
  const containers = containersOf(record['containers']);
  const all = <T>(read: (fields: Fields, place: string) => T[]): T[] =>
    containers.flatMap(({ fields, place }) => read(fields, place));
  const updated = metadata['dateUpdated'] ?? metadata['datePublished'] ?? metadata['dateRejected'];
  const modified = timeAt(updated, 'cveMetadata.dateUpdated');
  const { datePublished } = metadata;
  const texts = containers.map(({ fields, place }) =>
    descriptionAt(fields['descriptions'] ?? fields['rejectedReasons'], `${place}.descriptions`),
  );
  return {
    id,
    title: titleOf(containers[0]?.fields),
    description: texts.find((text) => text !== '') ?? '',
    published: datePublished === undefined ? modified : timeAt(datePublished, 'cveMetadata.datePublished'),
    modified,
    cvss: bestFirst(all((fields, place) => scoresAt(fields['metrics'], `${place}.metrics`))),
    cwe: [...new Set(all((fields, place) => weaknessesAt(fields['problemTypes'], `${place}.problemTypes`)))],
    references: [
      ...new Set(all((fields, place) => referencesAt(fields['references'], `${place}.references`))),
    ],
    configurations: configurationsOf(containers),
    rejected: metadata['state'] === 'REJECTED',
    source: 'cve5',
  };
}

interface Container {
  fields: Fields;
  place: string;
}

/** The CNA's container first. */
function containersOf(value: unknown): Container[] {
  const { cna, adp } = objectAt(value, 'containers');
  const others = listAt(adp, 'containers.adp', 100).map((fields, index) => ({
    fields: objectAt(fields, `containers.adp[${index}]`),
    place: `containers.adp[${index}]`,
  }));
  return [{ fields: objectAt(cna, 'containers.cna'), place: 'containers.cna' }, ...others];
}

function titleOf(cna: Fields | undefined): string | null {
  const title = cna?.['title'];
  return typeof title === 'string' && title !== '' ? cutText(title, titleLimit) : null;
}

const metricNames = ['cvssV4_0', 'cvssV3_1', 'cvssV3_0', 'cvssV2_0'];

function scoresAt(value: unknown, place: string): CvssScore[] {
  return listAt(value, place, entryLimit).flatMap((entry, index) => {
    const metric = objectAt(entry, `${place}[${index}]`);
    return metricNames
      .filter((name) => metric[name] !== undefined)
      .map((name) => cvssAt(metric[name], `${place}[${index}].${name}`));
  });
}

function bestFirst(scores: CvssScore[]): CvssScore[] {
  return scores.toSorted((a, b) => Number(b.version) - Number(a.version));
}

function weaknessesAt(value: unknown, place: string): string[] {
  return listAt(value, place, entryLimit).flatMap((entry, index) => {
    const { descriptions } = objectAt(entry, `${place}[${index}]`);
    return listAt(descriptions, `${place}[${index}].descriptions`, entryLimit).flatMap((text) => {
      const { cweId } = objectAt(text, `${place}[${index}].descriptions`);
      return typeof cweId === 'string' && /^CWE-\d{1,6}$/.test(cweId) ? [cweId] : [];
    });
  });
}

function configurationsOf(containers: Container[]): Configuration[] {
  const stated = containers.flatMap(({ fields, place }) =>
    configurationsAt(fields['cpeApplicability'], `${place}.cpeApplicability`),
  );
  if (stated.length > 0) return stated;
  const matches = containers.flatMap(({ fields, place }) =>
    listAt(fields['affected'], `${place}.affected`, entryLimit).flatMap((entry, index) =>
      matchesOf(objectAt(entry, `${place}.affected[${index}]`), `${place}.affected[${index}]`),
    ),
  );
  if (matches.length > matchLimit)
    throw new RecordProblem('affected', `has more than ${matchLimit} versions`);
  if (matches.length === 0) return [];
  return [{ operator: 'OR', negate: false, nodes: [{ operator: 'OR', negate: false, matches }] }];
}

/** A range of versions in the terms of a CPE match. */
interface Range extends VersionBounds {
  /** A single version. */
  exact: string | null;
}

function matchesOf(affected: Fields, place: string): CpeMatch[] {
  const names = productsOf(affected, place);
  if (names.length === 0) return [];
  const versions = listAt(affected['versions'], `${place}.versions`, entryLimit);
  const ranges = versions.flatMap((entry, index) => {
    const here = `${place}.versions[${index}]`;
    const fields = objectAt(entry, here);
    return fields['status'] === 'affected' ? rangesOf(fields, here) : [];
  });
  // Without any version statement, a product that is affected by default is affected in all versions.
  if (versions.length === 0 && affected['defaultStatus'] === 'affected') ranges.push(everyVersion);
  return names.flatMap((name) => ranges.map((range) => matchOf(name, range)));
}

const everyVersion: Range = { exact: null, ...unbounded };

/** CPE names without a version. A product without CPE is named by the words of its record. */
function productsOf(affected: Fields, place: string): string[] {
  const stated = listAt(affected['cpes'], `${place}.cpes`, entryLimit).filter(
    (cpe): cpe is string => typeof cpe === 'string' && isCpe(cpe),
  );
  if (stated.length > 0) return [...new Set(stated.map((cpe) => withVersion(cpe, '*')))];
  const vendor = optionalText(affected['vendor'], `${place}.vendor`, nameLimit);
  const product = optionalText(affected['product'], `${place}.product`, nameLimit);
  if (isUnnamed(vendor) || isUnnamed(product)) return [];
  return [formatCpe({ part: 'a', vendor: vendor ?? '', product: product ?? '' })].filter(isCpe);
}

function isUnnamed(name: string | null): boolean {
  return name === null || /^(?:n\/?a|unknown|unspecified|\*|-)?$/i.test(name.trim());
}

function withVersion(cpe: string, version: string): string {
  const parts = cpe.split(/(?<!\\):/);
  parts[5] = version;
  return parts.join(':');
}

function matchOf(name: string, { exact, ...bounds }: Range): CpeMatch {
  return { vulnerable: true, cpe: exact === null ? name : withVersion(name, cpeVersion(exact)), ...bounds };
}

/** A version as an attribute of a CPE name. */
function cpeVersion(version: string): string {
  const [, , , , , text = '*'] = formatCpe({ part: 'a', vendor: 'v', product: 'p', version }).split(
    /(?<!\\):/,
  );
  return text;
}

/** A version starts with a digit, or with a `v` before it. */
const versionPattern = /^v?\d[\w.+~-]{0,63}$/i;

/** Text that is not a version (a sentence, a commit) cannot be compared, so it is left out. */
function rangesOf(fields: Fields, place: string): Range[] {
  if (fields['versionType'] === 'git') return [];
  const from = textAt(fields['version'], `${place}.version`, nameLimit).trim();
  const below = optionalText(fields['lessThan'], `${place}.lessThan`, nameLimit)?.trim() ?? null;
  const upTo = optionalText(fields['lessThanOrEqual'], `${place}.lessThanOrEqual`, nameLimit)?.trim() ?? null;
  if (below === null && upTo === null) return rangesOfText(from);
  const startIncluding = isOpen(from) ? null : versionOf(from);
  if (startIncluding === null && !isOpen(from)) return [];
  const start = { ...everyVersion, startIncluding };
  const fixedAt = firstFix(fields['changes'], `${place}.changes`);
  if (fixedAt !== null) return [{ ...start, endExcluding: fixedAt }];
  const end = below ?? upTo ?? '*';
  if (isOpen(end)) return [start];
  if (end.endsWith('.*')) {
    const next = versionAfter(end.slice(0, -2));
    return next === null ? [] : [{ ...start, endExcluding: next }];
  }
  const version = versionOf(end);
  if (version === null) return [];
  return [{ ...start, ...(below === null ? { endIncluding: version } : { endExcluding: version }) }];
}

/** `6.1` to `6.2`: below it are all versions that begin with `6.1.` */
function versionAfter(version: string): string | null {
  const [, rest, last] = /^((?:\d{1,9}\.)*)(\d{1,9})$/.exec(version) ?? [];
  return last === undefined ? null : `${rest}${Number(last) + 1}`;
}

/** A range ends at its first version that is not affected any more. */
function firstFix(value: unknown, place: string): string | null {
  for (const [index, entry] of listAt(value, place, entryLimit).entries()) {
    const { at, status } = objectAt(entry, `${place}[${index}]`);
    if (status === 'unaffected' && typeof at === 'string') return versionOf(at.trim());
  }
  return null;
}

function isOpen(version: string): boolean {
  return /^(?:0|\*|-|unspecified|n\/a)?$/i.test(version);
}

function versionOf(text: string): string | null {
  return versionPattern.test(text) ? text.replace(/^v/i, '') : null;
}

/** `7.2.26 and earlier`, `< 1.2.3`, `>= 1.0, < 1.2.3`, `1.2.3`. */
function rangesOfText(text: string): Range[] {
  if (text === '*') return [everyVersion];
  const [, last] =
    /^(\S+) (?:and|or) (?:earlier|prior|below|older|lower)(?: versions?)?\.?$/i.exec(text) ?? [];
  if (last !== undefined) {
    const endIncluding = versionOf(last);
    return endIncluding === null ? [] : [{ ...everyVersion, endIncluding }];
  }
  const exact = versionOf(text);
  if (exact !== null) return [{ ...everyVersion, exact }];
  const range: Range = { ...everyVersion };
  for (const part of text.split(',')) {
    const [, sign, version] = /^\s*(<=|>=|<|>|=)\s*(\S+)\s*$/.exec(part) ?? [];
    const bound = version === undefined ? null : versionOf(version);
    if (sign === undefined || bound === null) return [];
    if (sign === '=') range.exact = bound;
    else range[boundOfSign[sign] as keyof VersionBounds] = bound;
  }
  return [range];
}

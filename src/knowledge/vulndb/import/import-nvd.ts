import { cveKey } from '../cve-key.ts';
import type { Configuration, ConfigurationNode, CpeMatch, CveRecord, CvssScore } from '../cve-record.ts';
import { isCpe } from '../product-key.ts';
import {
  cutText,
  type Fields,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  optionalText,
  RecordProblem,
  textAt,
  timeAt,
} from './checked-fields.ts';

/** Maximum length of a description, characters. */
const descriptionLimit = 8192;
/** Maximum number of references of a record. */
const referenceLimit = 100;
/** Maximum length of a reference, characters. */
const referenceLengthLimit = 2048;
/** Maximum number of configurations of one record. */
const configurationLimit = 2000;
/** Maximum number of nodes of one configuration. */
const nodeLimit = 2000;
/** Maximum number of CPE matches of one record. */
const matchLimit = 50_000;
/** Maximum entries of any other list of a record. */
const entryLimit = 10_000;
/** Maximum length of a version in a range, characters. */
const versionLimit = 128;

/**
 * Reads a record of the NVD API 2.0, as a page or a feed has it below `vulnerabilities[].cve`. A record that only states
 * configurations (an override for one that NVD has not analysed) has no dates.
 *
 * @throws RecordProblem
 */
export function readNvdRecord(value: unknown): CveRecord {
  const fields = objectAt(value, 'cve');
  const id = cveIdAt(fields['id'], 'id');
  const override = fields['published'] === undefined && fields['annotation'] !== undefined;
  const published = override ? epoch : timeAt(fields['published'], 'published');
  return {
    id,
    title: null,
    description: descriptionAt(fields['descriptions'], 'descriptions'),
    published,
    modified: override ? epoch : timeAt(fields['lastModified'], 'lastModified'),
    cvss: scoresAt(fields['metrics']),
    cwe: weaknessesAt(fields['weaknesses']),
    references: referencesAt(fields['references'], 'references'),
    configurations: configurationsAt(fields['configurations'], 'configurations'),
    rejected: optionalText(fields['vulnStatus'], 'vulnStatus', 64)?.toLowerCase() === 'rejected',
    source: override ? 'overrides' : 'nvd',
  };
}

const epoch = new Date(0).toISOString();

/** @throws RecordProblem */
export function cveIdAt(value: unknown, place: string): string {
  const text = textAt(value, place, 32);
  if (cveKey(text) === null) throw new RecordProblem(place, 'must be a CVE id');
  return text;
}

/**
 * The English one of several.
 *
 * @throws RecordProblem
 */
export function descriptionAt(value: unknown, place: string): string {
  for (const [index, entry] of listAt(value, place, entryLimit).entries()) {
    const { lang, value: text } = objectAt(entry, `${place}[${index}]`);
    if (typeof lang !== 'string' || !/^en(?:$|[-_])/i.test(lang) || typeof text !== 'string') continue;
    return cutText(text, descriptionLimit);
  }
  return '';
}

/**
 * http and https only; others are left out.
 *
 * @throws RecordProblem
 */
export function referencesAt(value: unknown, place: string): string[] {
  const urls = new Set<string>();
  for (const [index, entry] of listAt(value, place, entryLimit).entries()) {
    const { url } = objectAt(entry, `${place}[${index}]`);
    if (urls.size < referenceLimit && typeof url === 'string' && isLink(url)) urls.add(url);
  }
  return [...urls];
}

function isLink(url: string): boolean {
  return url.length <= referenceLengthLimit && /^https?:\/\/[^\s\p{Cc}"<>\\]+$/iu.test(url);
}

const metricLists = ['cvssMetricV40', 'cvssMetricV31', 'cvssMetricV30', 'cvssMetricV2'];

function scoresAt(value: unknown): CvssScore[] {
  if (value === undefined || value === null) return [];
  const metrics = objectAt(value, 'metrics');
  return metricLists.flatMap((name) => {
    const list = listAt(metrics[name], `metrics.${name}`, entryLimit).map((entry, index) =>
      objectAt(entry, `metrics.${name}[${index}]`),
    );
    const primaryFirst = list.toSorted((a, b) => Number(isPrimary(b)) - Number(isPrimary(a)));
    return primaryFirst.map(({ cvssData }) => cvssAt(cvssData, `metrics.${name}`));
  });
}

function isPrimary({ type }: Fields): boolean {
  return type === 'Primary';
}

/** @throws RecordProblem */
export function cvssAt(value: unknown, place: string): CvssScore {
  const data = objectAt(value, `${place}.cvssData`);
  return {
    version: textAt(data['version'], `${place}.version`, 8),
    score: numberAt(data['baseScore'], `${place}.baseScore`, 0, 10),
    vector: textAt(data['vectorString'], `${place}.vectorString`, 512),
  };
}

function weaknessesAt(value: unknown): string[] {
  const found = new Set<string>();
  for (const [index, entry] of listAt(value, 'weaknesses', entryLimit).entries()) {
    const place = `weaknesses[${index}]`;
    for (const text of listAt(objectAt(entry, place)['description'], `${place}.description`, entryLimit)) {
      const { value: name } = objectAt(text, `${place}.description`);
      if (typeof name === 'string' && /^CWE-\d{1,6}$/.test(name)) found.add(name);
    }
  }
  return [...found];
}

/** @throws RecordProblem */
export function configurationsAt(value: unknown, place: string): Configuration[] {
  const room = { matches: matchLimit };
  return listAt(value, place, configurationLimit).flatMap((entry, index) => {
    const here = `${place}[${index}]`;
    const fields = objectAt(entry, here);
    const nodes = listAt(fields['nodes'], `${here}.nodes`, nodeLimit)
      .map((node, number) => nodeAt(node, `${here}.nodes[${number}]`, room))
      .filter(({ matches }) => matches.length > 0);
    const negate = flagAt(fields['negate'], `${here}.negate`, false);
    return nodes.length === 0
      ? []
      : [{ operator: operatorAt(fields['operator'], `${here}.operator`), negate, nodes }];
  });
}

function nodeAt(value: unknown, place: string, room: { matches: number }): ConfigurationNode {
  const fields = objectAt(value, place);
  if (listAt(fields['children'], `${place}.children`, entryLimit).length > 0) {
    throw new RecordProblem(`${place}.children`, 'belongs to NVD JSON 1.1');
  }
  const matches = listAt(fields['cpeMatch'], `${place}.cpeMatch`, matchLimit);
  room.matches -= matches.length;
  if (room.matches < 0) throw new RecordProblem(place, `has more than ${matchLimit} CPE matches`);
  return {
    operator: operatorAt(fields['operator'], `${place}.operator`),
    negate: flagAt(fields['negate'], `${place}.negate`, false),
    matches: matches.map((match, index) => matchAt(match, `${place}.cpeMatch[${index}]`)),
  };
}

function matchAt(value: unknown, place: string): CpeMatch {
  const fields = objectAt(value, place);
  const cpe = textAt(fields['criteria'], `${place}.criteria`, 1024);
  if (!isCpe(cpe)) throw new RecordProblem(`${place}.criteria`, 'must be a CPE 2.3 name');
  const bound = (name: string) => optionalText(fields[name], `${place}.${name}`, versionLimit);
  return {
    vulnerable: flagAt(fields['vulnerable'], `${place}.vulnerable`, true),
    cpe,
    startIncluding: bound('versionStartIncluding'),
    startExcluding: bound('versionStartExcluding'),
    endIncluding: bound('versionEndIncluding'),
    endExcluding: bound('versionEndExcluding'),
  };
}

function operatorAt(value: unknown, place: string): 'AND' | 'OR' {
  if (value === undefined || value === null) return 'OR';
  if (value === 'AND' || value === 'OR') return value;
  throw new RecordProblem(place, 'must be AND or OR');
}

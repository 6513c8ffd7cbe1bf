import { type CpePart, formatCpe } from '../../products/cpe.ts';
import {
  boundOfSign,
  type Configuration,
  type CpeMatch,
  type CveRecord,
  type CvssScore,
  unbounded,
  type VersionBounds,
} from '../cve-record.ts';
import { cvss3BaseScore } from '../cvss.ts';

/** Affected versions by product: `{'a:openbsd:openssh': ['>= 8.5p1, < 9.8']}`; any range of any product applies. */
export type Affected = Readonly<Record<string, readonly VersionRange[]>>;

/** `< 9.8`, `>= 8.5, <= 9.7`, `= 2.4.49`, or `*` for every version. */
export type VersionRange = string;

/** An entry of the builtin catalog: the record, and the remediation where an update alone is not enough. */
export interface BuiltinCve {
  record: CveRecord;
  remedy: string | null;
  /** Installing the update does not change the version. */
  updatesHidden: boolean;
}

interface Details {
  /** The impact of an attack, in one sentence. */
  title: string;
  /** Product that the affected one must run on, `o:microsoft:windows`. */
  on?: string;
  /** Remediation besides the update that follows from the affected range. */
  remedy?: string;
  /** Installing the update does not change the version, as with a hotfix or a patch set. */
  updatesHidden?: boolean;
}

const metricNames = ['AV', 'AC', 'PR', 'UI', 'S', 'C', 'I', 'A'];

/**
 * A CVE of products with different affected versions.
 *
 * @param metrics CVSS v3 vector without names, in their order: `NLNN/U/HHH` is AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H
 */
export function cve(id: string, metrics: string, affected: Affected, details: Details): BuiltinCve {
  const { title, on, remedy = null, updatesHidden = false } = details;
  return {
    record: {
      id,
      title,
      description: `${title}.`,
      published: '',
      modified: '',
      cvss: [cvssOf(metrics)],
      cwe: [],
      references: [`https://nvd.nist.gov/vuln/detail/${id}`],
      configurations: [configurationOf(affected, on)],
      rejected: false,
      source: 'builtin',
    },
    remedy,
    updatesHidden,
  };
}

/** A function for the CVEs of one product, or of several that share their affected versions; see {@link cve}. */
export function cvesOf(...products: readonly string[]) {
  return (id: string, metrics: string, ranges: readonly VersionRange[], details: Details): BuiltinCve =>
    cve(id, metrics, Object.fromEntries(products.map((product) => [product, ranges])), details);
}

/** @throws Error for malformed metrics */
function cvssOf(metrics: string): CvssScore {
  const values = metrics.replaceAll('/', '');
  const vector = `CVSS:3.1${metricNames.map((name, index) => `/${name}:${values[index] ?? '?'}`).join('')}`;
  const score = cvss3BaseScore(vector);
  if (score === null) throw new Error(`"${metrics}" is not a vector of CVSS v3`);
  return { version: '3.1', score, vector };
}

function configurationOf(affected: Affected, platform: string | undefined): Configuration {
  const matches = Object.entries(affected).flatMap(([product, ranges]) =>
    ranges.map((range) => matchOf(product, range)),
  );
  const faulty = { operator: 'OR' as const, negate: false, matches };
  if (platform === undefined) return { operator: 'OR', negate: false, nodes: [faulty] };
  const place = { ...matchOf(platform, '*'), vulnerable: false };
  return {
    operator: 'AND',
    negate: false,
    nodes: [faulty, { operator: 'OR', negate: false, matches: [place] }],
  };
}

const productForm = /^([aoh]):([^:]+):([^:]+)$/;

/** @throws Error for a malformed product or range */
function matchOf(product: string, range: VersionRange): CpeMatch {
  const [, part, vendor = '', name = ''] = productForm.exec(product) ?? [];
  if (part === undefined) throw new Error(`"${product}" is not part:vendor:product`);
  const exact = /^= ?(\S+)$/.exec(range)?.[1];
  const match: CpeMatch = {
    vulnerable: true,
    cpe: formatCpe({ part: part as CpePart, vendor, product: name, version: exact ?? null }),
    ...unbounded,
  };
  if (exact !== undefined || range === '*') return match;
  for (const bound of range.split(', ')) {
    const [, sign, version] = /^(>=|>|<=|<) (\S+)$/.exec(bound) ?? [];
    if (sign === undefined || version === undefined) throw new Error(`"${range}" is not a range of versions`);
    match[boundOfSign[sign] as keyof VersionBounds] = version;
  }
  return match;
}

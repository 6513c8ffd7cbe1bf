import type { Finding, FindingClass } from '../../domain/finding.ts';
import { parseCpe } from '../products/cpe.ts';
import { aliasesOf } from '../products/cpe-aliases.ts';
import { type Applicability, evaluateApplicability, type Outcome } from './applicability.ts';
import {
  type BackportVerdict,
  evaluateBackport,
  type Origin,
  type PackageBuild,
  readBuild,
} from './backport.ts';
import type { CpeMatch, CveRank, CveRecord, CveSource } from './cve-record.ts';
import type { KnownSystem } from './known-product.ts';
import { isAboutPlatform, type OtherBuild, otherBuild } from './other-builds.ts';

/** A recognized product; a fingerprint with a CPE name fits. */
export interface SeenProduct {
  cpe: string;
  version: string | null;
  revision?: string | undefined;
  os?: KnownSystem | null | undefined;
  /** 0..1: confidence in the product itself. */
  confidence: number;
}

/** Other facts of the host. */
export interface HostFacts {
  os: KnownSystem | null;
  /** CPE names of its other products. */
  others: readonly string[];
}

/** How certain a flaw is; `none` is not reported. */
export type VerdictClass = FindingClass | 'none';

export interface CveVerdict {
  class: VerdictClass;
  /** `unknown_version` has the class `possible`, for callers that include products without a version. */
  outcome: Outcome | 'fixed_by_vendor';
  /** 0..1 */
  confidence: number;
  match: CpeMatch | null;
  /** Affected versions, as text. */
  affected: string | null;
  /** The version that was seen. */
  detected: string | null;
  backportNote: string | null;
  /** Who built the program, where it matters. */
  origin: Origin;
  /** Sentences: why it applies, and what limits the claim. */
  reasons: string[];
}

/** Confidence of a verdict before doubt about the product itself, 0..1. */
const worth = {
  certain: 0.95,
  confirmedByVendor: 0.9,
  likely: 0.75,
  unknownBuilder: 0.55,
  revisionWithoutData: 0.5,
  revisionNotShown: 0.4,
  otherBuild: 0.35,
  platformUnproven: 0.3,
  weakRecord: 0.2,
  unknownVersion: 0.1,
};
/** Minimum confidence in the product for a verdict of `certain`. */
const sureProduct = 0.8;

/** Evaluates one record for one product of a host. */
export function assess(record: CveRecord, seen: SeenProduct, host: HostFacts, source: CveSource): CveVerdict {
  const own = seen.version?.trim() ? seen.version : undefined;
  const os = mergeSystems(seen.os ?? null, host.os);
  const applicability = evaluateApplicability(record, {
    cpe: seen.cpe,
    version: own,
    os,
    others: host.others,
  });
  if (applicability.outcome === 'not_affected') return verdictOf('none', 0, applicability, seen, null);
  const build = readBuild({ ...seen, os });
  const other = otherBuild(seen, os, build.origin === 'distribution' || build.origin === 'upstream');
  if (other?.unaffected.has(record.id)) return unaffected(applicability, seen, other);
  const backport = evaluateBackport(build, record.id, source);
  if (backport.status === 'fixed_by_vendor') {
    const fixed = verdictOf('none', 0, applicability, seen, backport.note);
    return { ...fixed, outcome: 'fixed_by_vendor' };
  }
  const graded = grade(applicability, build, backport, seen.confidence);
  const { level, value, limits } =
    other && !namesPlatform(record, applicability) ? asOther(graded, other) : graded;
  const note = level === 'possible' ? sentences(backport.note, source.lacks) : backport.note;
  const verdict = verdictOf(level, value * seen.confidence, applicability, seen, note);
  verdict.reasons.push(...limits);
  return { ...verdict, origin: build.origin };
}

function sentences(...texts: (string | null)[]): string | null {
  return texts.filter((text) => text !== null).join(' ') || null;
}

function unaffected(applicability: Applicability, seen: SeenProduct, { name }: OtherBuild): CveVerdict {
  const verdict = verdictOf('none', 0, applicability, seen, null);
  const reason = `It is ${name}, whose maker states that it is not affected.`;
  return { ...verdict, outcome: 'not_affected', reasons: [...verdict.reasons, reason] };
}

/** The versions of a record are those of upstream: another build may have the flaw, its fix, or neither. */
function asOther(graded: Grade, { name }: OtherBuild): Grade {
  const limit = `It is ${name}: the affected versions of upstream need not hold for it.`;
  return { ...atMost(graded, worth.otherBuild), limits: [...graded.limits, limit] };
}

function namesPlatform({ configurations }: CveRecord, { match }: Applicability): boolean {
  const cpe = match && parseCpe(match.cpe);
  if (cpe && isAboutPlatform(cpe)) return true;
  return configurations.some(
    ({ operator, nodes }) =>
      operator === 'AND' && nodes.some((node) => match !== null && node.matches.includes(match)),
  );
}

/** The banner takes precedence over the host's presumed system, which fills its gaps. */
function mergeSystems(own: KnownSystem | null, host: KnownSystem | null): KnownSystem | null {
  if (!own || !host) return own ?? host;
  if (own.family !== host.family || own.version !== null) return own;
  if (own.distribution !== null && own.distribution !== host.distribution) return own;
  return host;
}

function verdictOf(
  level: VerdictClass,
  confidence: number,
  applicability: Applicability,
  seen: SeenProduct,
  note: string | null,
): CveVerdict {
  return {
    class: level,
    outcome: applicability.outcome,
    confidence: Math.round(Math.min(1, Math.max(0, confidence)) * 1000) / 1000,
    match: applicability.match,
    affected: applicability.affected,
    detected: seen.version,
    backportNote: note,
    origin: 'unknown',
    reasons: [...applicability.reasons, ...(note === null ? [] : [note])],
  };
}

interface Grade {
  level: VerdictClass;
  value: number;
  limits: string[];
}

function grade(
  applicability: Applicability,
  build: PackageBuild,
  backport: BackportVerdict,
  confidence: number,
): Grade {
  const byBuild = gradeBuild(build, backport);
  if (applicability.outcome === 'unknown_version') return atMost(byBuild, worth.unknownVersion);
  if (applicability.weak) return atMost(byBuild, worth.weakRecord);
  if (applicability.outcome === 'platform_unproven') return atMost(byBuild, worth.platformUnproven);
  if (byBuild.level === 'certain' && confidence < sureProduct) {
    const limits = [...byBuild.limits, 'The confidence of the product itself allows no more.'];
    return { level: 'likely', value: worth.likely, limits };
  }
  return byBuild;
}

function atMost(byBuild: Grade, value: number): Grade {
  return { level: 'possible', value: Math.min(value, byBuild.value), limits: byBuild.limits };
}

function gradeBuild(build: PackageBuild, backport: BackportVerdict): Grade {
  if (backport.status === 'affected') {
    return backport.exact
      ? { level: 'certain', value: worth.certain, limits: [] }
      : { level: 'likely', value: worth.confirmedByVendor, limits: ['The package revision is unknown.'] };
  }
  if (build.origin === 'upstream') return { level: 'certain', value: worth.certain, limits: [] };
  return { level: 'possible', value: worthOf(build), limits: [] };
}

function worthOf({ origin, revision }: PackageBuild): number {
  if (origin === 'unknown') return worth.unknownBuilder;
  return revision === null ? worth.revisionNotShown : worth.revisionWithoutData;
}

/** A record that concerns a product, with its verdict and rank. */
export interface FoundCve {
  record: CveRecord;
  verdict: CveVerdict;
  rank: CveRank;
}

/** Everything in a source about a product, under all its names. */
export function findCves(seen: SeenProduct, host: HostFacts, source: CveSource): FoundCve[] {
  const cpe = parseCpe(seen.cpe);
  if (!cpe) return [];
  const found = new Map<string, FoundCve>();
  for (const { vendor, product } of aliasesOf(cpe.vendor, cpe.product)) {
    for (const record of source.lookup(vendor, product)) {
      if (found.has(record.id)) continue;
      const verdict = assess(record, seen, host, source);
      if (verdict.class !== 'none') found.set(record.id, { record, verdict, rank: source.rank(record.id) });
    }
  }
  return [...found.values()];
}

/** The reason for a finding's rank: `known to be exploited; EPSS 0.943 (percentile 0.999); CVSS 3.1 8.1`. */
export function rankReason({ kev, epss, cvss }: Pick<Finding, 'kev' | 'epss' | 'cvss'>): string {
  const parts = [
    kev ? 'known to be exploited' : 'not known to be exploited',
    epss ? `EPSS ${epss.score.toFixed(3)} (percentile ${epss.percentile.toFixed(3)})` : 'no EPSS score',
    cvss ? `CVSS ${cvss.version} ${cvss.score.toFixed(1)}` : 'no CVSS score',
  ];
  return parts.join('; ');
}

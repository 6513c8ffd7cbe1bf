import { type Cpe, parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import type { Configuration, ConfigurationNode, CpeMatch, CveRecord } from './cve-record.ts';
import { isLogical, type KnownProduct, type Subject, subjectOf } from './known-product.ts';
import {
  evaluateCompanion,
  evaluateEdition,
  evaluateHardware,
  evaluateTarget,
} from './platform-criterion.ts';
import { combine, negated, no, platformUnknown, ruledOut, type Truth, versionUnknown, yes } from './truth.ts';
import { describeRange, evaluateVersion, isAnyUpdate, isUnbounded } from './version-criterion.ts';

/**
 * `platform_unproven`: the version matches, but the required platform was not seen. `unknown_version`: the record names
 * versions, and the running one is not known precisely enough.
 */
export type Outcome = 'applies' | 'platform_unproven' | 'unknown_version' | 'not_affected';

export interface Applicability {
  outcome: Outcome;
  /** The decisive criterion; null when none holds. */
  match: CpeMatch | null;
  /** Versions that the criterion names: `>= 9.1, < 9.8`, `1.3.5 rc1`, `all versions`. */
  affected: string | null;
  /** The criterion names every version without a bound: weak evidence. */
  weak: boolean;
  /** Sentences, the decisive one first. */
  reasons: string[];
}

const outcomes: Record<Truth, Outcome> = {
  [no]: 'not_affected',
  [versionUnknown]: 'unknown_version',
  [platformUnknown]: 'platform_unproven',
  [yes]: 'applies',
};

/** A criterion about the product that does not rule it out. */
interface MatchedCriterion {
  truth: Truth;
  match: CpeMatch;
  weak: boolean;
  because: string;
  /** The edition, when nothing else is unknown. */
  edition: string | null;
}

/** Evaluates whether a record affects a product, with the facts known. A name that is not a CPE is not affected. */
export function evaluateApplicability(record: CveRecord, known: KnownProduct): Applicability {
  const subject = subjectOf(known);
  if (!subject) return notAffected('The product has no CPE name to compare.');
  if (record.rejected) return notAffected('The record was withdrawn.');
  let best: MatchedCriterion | null = null;
  for (const configuration of record.configurations) {
    const matched: MatchedCriterion[] = [];
    const truth = evaluateConfiguration(configuration, subject, matched);
    for (const criterion of matched) {
      const whole = { ...criterion, truth: Math.min(truth, criterion.truth) as Truth };
      if (whole.truth < criterion.truth) whole.because = limitedBy(whole.truth, criterion.because);
      if (whole.truth !== no && (!best || isStronger(whole, best))) best = whole;
    }
  }
  if (!best) return notAffected('No criterion of the record matches this product and version.');
  const reasons = [best.because];
  if (best.weak) reasons.push('The record names every version of the product, without a bound.');
  return {
    outcome: outcomes[best.truth],
    match: best.match,
    affected: describeRange(best.match),
    weak: best.weak,
    reasons,
  };
}

function notAffected(reason: string): Applicability {
  return { outcome: 'not_affected', match: null, affected: null, weak: false, reasons: [reason] };
}

function limitedBy(truth: Truth, because: string): string {
  if (truth === platformUnknown)
    return `${because} What it must run on or together with was not seen on this host.`;
  return `${because} The version of something it must run with is unknown.`;
}

function isStronger(a: MatchedCriterion, b: MatchedCriterion): boolean {
  if (a.truth !== b.truth) return a.truth > b.truth;
  return b.weak && !a.weak;
}

function evaluateConfiguration(
  configuration: Configuration,
  subject: Subject,
  matched: MatchedCriterion[],
): Truth {
  const nodes = configuration.nodes.filter((node) => node.matches.length > 0);
  if (nodes.length === 0) return no;
  const truths = nodes.map((node) => evaluateNode(node, subject, matched, configuration.negate));
  return negated(combine(configuration.operator, truths), configuration.negate);
}

function evaluateNode(
  node: ConfigurationNode,
  subject: Subject,
  matched: MatchedCriterion[],
  outerNegate: boolean,
): Truth {
  const ofNode: MatchedCriterion[] = [];
  const truths = node.matches.map((match) => {
    const criterion = parseCpe(match.cpe);
    if (!criterion) return no;
    const key = mainName(criterion.vendor, criterion.product);
    if (key !== subject.key) return evaluateCompanion(match, criterion, key, subject);
    const own = evaluateSubject(match, criterion, subject);
    const truth = negated(own.truth, node.negate !== outerNegate);
    if (match.vulnerable && truth !== no) ofNode.push({ ...own, truth, match });
    return own.truth;
  });
  if (node.operator === 'OR' && !node.negate && !outerNegate && nameEveryEdition(ofNode)) {
    for (const criterion of ofNode) if (criterion.edition !== null) criterion.truth = yes;
    truths.push(yes);
  }
  matched.push(...ofNode);
  return negated(combine(node.operator, truths), node.negate);
}

/** A product with two editions is affected when both are, whichever runs. */
function nameEveryEdition(matched: readonly MatchedCriterion[]): boolean {
  const editions = new Set(matched.map(({ edition }) => edition));
  return editions.has('community') && editions.has('enterprise');
}

function evaluateSubject(match: CpeMatch, criterion: Cpe, subject: Subject): Omit<MatchedCriterion, 'match'> {
  const rest = { weak: false, edition: null };
  if (criterion.part !== subject.cpe.part && !isLogical(subject.cpe.part)) return { ...ruledOut, ...rest };
  const version = evaluateVersion(match, criterion, subject);
  if (version.truth === no) return { ...ruledOut, ...rest };
  const edition = evaluateEdition(criterion, subject);
  const context = [
    edition,
    evaluateTarget(criterion.targetSw, subject),
    evaluateHardware(criterion, subject),
  ];
  const truth = combine('AND', [version.truth, ...context.map((each) => each.truth)]);
  const limits = context.filter((each) => each.truth < version.truth).map((each) => each.because);
  return {
    truth,
    because: [version.because, ...limits].join(' '),
    weak: isUnbounded(match) && criterion.version === '*' && isAnyUpdate(criterion),
    edition: version.truth === yes && limits.length === 1 && edition.truth < yes ? criterion.swEdition : null,
  };
}

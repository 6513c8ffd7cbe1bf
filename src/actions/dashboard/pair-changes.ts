import { noFindings, type Severity, type SeverityCounts } from '../../domain/finding.ts';
import {
  type CompareContext,
  type Comparison,
  compareScans,
  type PortState,
} from '../results/compare-scans.ts';
import { blindnessText } from '../results/report-changes.ts';

/** What is different in a run of a series. */
export interface RunChanges {
  changes: {
    /** Findings. */
    new: number;
    fixed: number;
    /** Services that appeared, went, or are another product or version. */
    changed: number;
    /** Hosts, not or not completely comparable. */
    not_comparable: number;
  };
  /** New findings less fixed ones. */
  balance: SeverityCounts;
  stands_out: StandingOut;
}

/** The one thing that people should know of a run. */
export interface StandingOut {
  /** Null if it is no finding. */
  severity: Severity | null;
  text: string;
  exploited: boolean;
}

/** Longest text, characters. */
const maxText = 200;

/** @param signal aborts with its reason @throws PortolanError as of `compareScans` */
export async function runChanges(
  context: CompareContext,
  scanId: string,
  against: string,
  signal: AbortSignal,
): Promise<RunChanges> {
  const comparison = await compareScans(context, scanId, against, signal);
  const findings = await changedFindings(comparison);
  const services = await changedServices(comparison);
  const lost = await incomparableHosts(comparison);
  const changes = {
    new: findings.new,
    fixed: findings.fixed,
    changed: services.count,
    not_comparable: lost.hosts,
  };
  const standsOut =
    findings.worst ??
    plain(
      (findings.fixed > 0 && `${findings.fixed} ${findings.fixed === 1 ? 'finding' : 'findings'} fixed`) ||
        services.first ||
        lost.first ||
        'No change',
    );
  return { changes, balance: findings.balance, stands_out: standsOut };
}

function plain(text: string): StandingOut {
  return { severity: null, text: text.slice(0, maxText), exploited: false };
}

async function changedFindings(comparison: Comparison) {
  const balance = noFindings();
  const counts = { new: 0, fixed: 0 };
  let worst: { finding: Urgency; text: string } | null = null;
  for await (const { host, vulnerability } of comparison.list('vulnerabilities.new')) {
    counts.new += 1;
    balance[vulnerability.severity] += 1;
    if (worst !== null && !isMoreUrgent(vulnerability, worst.finding)) continue;
    worst = { finding: vulnerability, text: `${vulnerability.title} on ${host}` };
  }
  for await (const { vulnerability } of comparison.list('vulnerabilities.resolved')) {
    counts.fixed += 1;
    balance[vulnerability.severity] -= 1;
  }
  return { ...counts, balance, worst: worst && standingOut(worst) };
}

type Urgency = { severity: Severity; kev?: boolean | null; cvss?: { score: number } | null };

const ranks: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3, info: 4 };

/** Exploited ones first, then by severity and CVSS score. */
function isMoreUrgent(one: Urgency, other: Urgency): boolean {
  const exploited = Number(other.kev === true) - Number(one.kev === true);
  if (exploited !== 0) return exploited < 0;
  const rank = ranks[one.severity] - ranks[other.severity];
  return rank === 0 ? (one.cvss?.score ?? 0) > (other.cvss?.score ?? 0) : rank < 0;
}

function standingOut({ finding, text }: { finding: Urgency; text: string }): StandingOut {
  return { severity: finding.severity, text: text.slice(0, maxText), exploited: finding.kev === true };
}

async function changedServices(comparison: Comparison): Promise<{ count: number; first: string | null }> {
  let count = 0;
  let first: string | null = null;
  for await (const { host, port, before, after } of comparison.list('ports.changed')) {
    count += 1;
    first ??= `${changeText(before, after)} on ${host}, port ${port}`;
  }
  for await (const { host, port, ...state } of comparison.list('ports.added')) {
    count += 1;
    first ??= `${nameOf(state)} appeared on ${host}, port ${port}`;
  }
  for await (const { host, port, ...state } of comparison.list('ports.removed')) {
    count += 1;
    first ??= `${nameOf(state)} is gone from ${host}, port ${port}`;
  }
  return { count, first };
}

function changeText(before: PortState, after: PortState): string {
  const [was, is] = [nameOf(before), nameOf(after)];
  if (was !== is) return `${was} became ${is}`;
  if (before.version !== after.version && before.version && after.version)
    return `${is} updated from ${before.version} to ${after.version}`;
  return `${is} changed`;
}

function nameOf({ product, service }: PortState): string {
  return product ?? service ?? 'a service';
}

/** Items of a host follow each other. */
async function incomparableHosts(comparison: Comparison): Promise<{ hosts: number; first: string | null }> {
  let hosts = 0;
  let last: string | null = null;
  let reason: string | null = null;
  for await (const item of comparison.list('not_comparable')) {
    if (item.host !== last) hosts += 1;
    last = item.host;
    reason ??= blindnessText(item.reason, item.missing_in === comparison.scan_id);
  }
  const first = reason && `${hosts} ${hosts === 1 ? 'host was' : 'hosts were'} ${reason}`;
  return { hosts, first };
}

import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Finding, knownSeverity, type Severity } from '../../domain/finding.ts';
import { countsAs, urgencyOf, urgencyRank, urgencyRanks, worstFirst } from '../../domain/finding-order.ts';
import type { ErrorRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { completeRow, jsonText } from '../record/row-line.ts';
import { generator } from './generator.ts';
import { inPieces } from './pieces.ts';
import type { ResultHead } from './result-head.ts';

/** Maximum number of described rules; a result beyond them still names its rule, and is self-contained. */
const maxRules = 20_000;
/** Maximum number of results that are sorted, worst first; more come in the order of the record, each with its rank. */
const maxSorted = 10_000;

const schemaUri =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** SARIF level of a severity (SARIF 2.1.0, 3.27.10). */
const levels: Record<Severity, 'error' | 'warning' | 'note'> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
};

/** Longest description of a rule that GitHub code scanning takes, characters. */
const maxDescription = 1024;

/** Scores of severities without a CVSS score, in the middle of the ranges that GitHub code scanning reads. */
const usualScores: Record<Severity, number | null> = {
  critical: 9.5,
  high: 8,
  medium: 5.5,
  low: 2,
  info: null,
};

/**
 * The findings as SARIF 2.1.0 (OASIS), with what GitHub code scanning requires of it: one run, one result per finding, one
 * rule per finding id, errors and warnings of the scan as notifications. `rows` are in the order of `RecordView.rows`.
 * In memory are the rules and the results that are sorted.
 */
export async function* renderSarif(head: ResultHead, rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield* inPieces(document(head, rows));
}

/** Rules are complete only after the last result, so `tool` comes last: members of an object have no order. */
async function* document(head: ResultHead, rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield `{"$schema":${jsonText(schemaUri)},"version":"2.1.0","runs":[{"invocations":[{${invocation(head)}`;
  const rules = new Map<string, Rule>();
  let notes = head.warnings.length;
  let results = 0;
  let held: VulnerabilityRow[] | null = [];
  const resultText = (row: VulnerabilityRow) => {
    addRule(rules, row.vulnerability);
    return `${results++ === 0 ? resultsStart : ','}${jsonText(resultOf(row))}`;
  };
  for await (const row of rows) {
    if (row.type === 'error') {
      yield `${notes++ === 0 ? '' : ','}${jsonText(errorNotification(row))}`;
      continue;
    }
    if (row.type !== 'vulnerability') continue;
    held?.push(completeRow(row));
    if (held === null) yield resultText(completeRow(row));
    else if (held.length > maxSorted) {
      for (const each of held) yield resultText(each);
      held = null;
    }
  }
  for (const each of worstFirst(held ?? [], ({ vulnerability }) => vulnerability)) yield resultText(each);
  if (results === 0) yield resultsStart;
  yield '],"tool":{"driver":{';
  yield `"name":${jsonText(generator.name)},"version":${jsonText(generator.version)},`;
  yield `"informationUri":${jsonText(generator.informationUri)},"rules":[`;
  let described = 0;
  for (const { descriptor } of rules.values()) yield `${described++ === 0 ? '' : ','}${jsonText(descriptor)}`;
  yield `]}},${runFacts(head)}}]}\n`;
}

const resultsStart = ']}],"results":[';

function invocation({ status, partial, timestamp, summary, warnings }: ResultHead): string {
  const start = new Date(Math.max(0, Date.parse(timestamp) - summary.duration_seconds * 1000));
  const facts = {
    executionSuccessful: !partial && status === 'completed',
    startTimeUtc: start.toISOString(),
    endTimeUtc: timestamp,
    properties: { status, partial },
  };
  const notes = warnings.map((warning) => jsonText(warningNotification(warning))).join(',');
  return `${jsonText(facts).slice(1, -1)},"toolExecutionNotifications":[${notes}`;
}

/** Without `automationDetails`: it would take the place of the category that an upload to GitHub names. */
function runFacts({ scan_id, targets, summary }: ResultHead): string {
  const facts = { columnKind: 'utf16CodeUnits', properties: { scan_id, targets, summary } };
  return jsonText(facts).slice(1, -1);
}

function warningNotification({ code, message, node, target }: ScanWarning): object {
  return {
    level: 'warning',
    descriptor: { id: code },
    message: { text: message },
    properties: { node, target },
  };
}

function errorNotification(row: ErrorRow): object {
  const { code, message, node, target } = completeRow(row);
  const text = target === null ? message : `${target}: ${message}`;
  return { level: 'error', descriptor: { id: code }, message: { text }, properties: { node, target } };
}

interface Rule {
  descriptor: object;
  /** Of the most severe finding so far. */
  score: number;
}

/** A rule describes the most severe of its findings, so that it does not depend on which host comes first. */
function addRule(rules: Map<string, Rule>, finding: Finding): void {
  const known = rules.get(finding.id);
  const score = scoreOf(finding) ?? 0;
  if (known === undefined ? rules.size < maxRules : score > known.score)
    rules.set(finding.id, { descriptor: ruleOf(finding), score });
}

/** Above 0 up to 10; null without a severity for security. */
function scoreOf(finding: Finding): number | null {
  const severity = countsAs(finding);
  const isLower = severity !== knownSeverity(finding.severity);
  const score = (isLower ? null : finding.cvss?.score) ?? usualScores[severity];
  return score !== null && score > 0 && score <= 10 ? score : null;
}

/** GitHub code scanning rejects empty texts. */
function ruleOf(finding: Finding): object {
  const { id, title, affected, references, remediation } = finding;
  const score = scoreOf(finding);
  const name = shortened(title.trim() || id);
  const description = affected ? shortened(`${name}. Affected: ${affected}`) : name;
  const help = [remediation, ...references].join('\n').trim();
  const helpUri = references.find(isWebAddress) ?? cvePage(id);
  return {
    id,
    shortDescription: { text: name },
    fullDescription: { text: description },
    help: { text: help || description },
    ...(helpUri === null ? {} : { helpUri }),
    defaultConfiguration: { level: levels[countsAs(finding)] },
    properties: {
      tags: ['security'],
      ...(score === null ? {} : { 'security-severity': score.toFixed(1) }),
    },
  };
}

function shortened(text: string): string {
  return text.length <= maxDescription ? text : `${text.slice(0, maxDescription - 1).toWellFormed()}…`;
}

function cvePage(id: string): string | null {
  return /^CVE-\d{4}-\d{4,19}$/.test(id) ? `https://nvd.nist.gov/vuln/detail/${id}` : null;
}

function resultOf({ host, port, protocol, vulnerability }: VulnerabilityRow): object {
  const { id, title, severity, evidence, remediation, ...facts } = vulnerability;
  const place = positionOf(host, port, protocol);
  const doubt = facts.class === 'certain' ? '' : ` (${facts.class})`;
  const text = [`${title} on ${place.name}${doubt}`, facts.backport_note, evidence]
    .filter(Boolean)
    .join('\n');
  const identity = fingerprint(id, host, port, protocol);
  return {
    ruleId: id,
    level: levels[countsAs(vulnerability)],
    kind: 'fail',
    message: { text },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: place.uri }, region: firstCharacter },
        logicalLocations: [{ fullyQualifiedName: place.name, kind: 'resource' }],
      },
    ],
    fingerprints: { 'portolan/v1': identity },
    partialFingerprints: { primaryLocationLineHash: identity },
    rank: rankOf(vulnerability),
    properties: { severity, evidence, remediation, ...facts },
  };
}

/** Place in the order of findings, up to 100 for the worst (SARIF 2.1.0, 3.27.25). Steps of EPSS outweigh CVSS. */
function rankOf(finding: Finding): number {
  const urgency = urgencyOf(finding);
  const scores = (((urgency.epss ?? -1) + 1) * 2e6 + (urgency.cvss ?? -1) + 1) / (4e6 + 11);
  return (100 / urgencyRanks) * (urgencyRanks - 1 - urgencyRank(urgency) + Math.min(1, Math.max(0, scores)));
}

/** GitHub code scanning requires a region; an endpoint has no lines. */
const firstCharacter = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 };

/**
 * Location of a finding as a relative path, the one form that GitHub code scanning accepts: `hosts/192.0.2.1/tcp/22`,
 * `hosts/192.0.2.1` without a port; for people `192.0.2.1:22/tcp`.
 */
function positionOf(
  host: string,
  port: number | null,
  protocol: string | null,
): { uri: string; name: string } {
  const literal = isIPv6(host) ? `[${host}]` : host;
  // A colon may stand in a path (RFC 3986), not in its first segment; the zone of an address starts with a percent sign.
  const folder = `hosts/${encodeURIComponent(host.toWellFormed()).replaceAll('%3A', ':')}`;
  if (port === null) return { uri: folder, name: host };
  return { uri: `${folder}/${protocol ?? 'tcp'}/${port}`, name: `${literal}:${port}/${protocol ?? 'tcp'}` };
}

/** The same finding at the same endpoint has the same fingerprint in every scan. */
function fingerprint(id: string, host: string, port: number | null, protocol: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([id, host, port, protocol]))
    .digest('hex');
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol);
}

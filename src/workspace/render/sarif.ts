import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Finding, Severity } from '../../domain/finding.ts';
import type { ErrorRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { completeRow, jsonText } from '../record/row-line.ts';
import { generator } from './generator.ts';
import { inPieces } from './pieces.ts';
import type { ResultHead } from './result-head.ts';

/** Maximum number of described rules; a result beyond them still names its rule, and is self-contained. */
const maxRules = 20_000;

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

/**
 * The findings as SARIF 2.1.0 (OASIS): one run, one result per finding, one rule per finding id, errors and warnings
 * of the scan as notifications. `rows` are in the order of `RecordView.rows`; one row and the rules are in memory.
 */
export async function* renderSarif(head: ResultHead, rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield* inPieces(document(head, rows));
}

/** Rules are complete only after the last result, so `tool` comes last: members of an object have no order. */
async function* document(head: ResultHead, rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield `{"$schema":${jsonText(schemaUri)},"version":"2.1.0","runs":[{"invocations":[{${invocation(head)}`;
  const rules = new Map<string, object>();
  let notes = head.warnings.length;
  let results = -1;
  for await (const row of rows) {
    if (row.type === 'error') {
      yield `${notes++ === 0 ? '' : ','}${jsonText(errorNotification(row))}`;
      continue;
    }
    if (row.type !== 'vulnerability') continue;
    if (results < 0) {
      yield resultsStart;
      results = 0;
    }
    const complete = completeRow(row);
    const { id } = complete.vulnerability;
    if (!rules.has(id) && rules.size < maxRules) rules.set(id, ruleOf(complete.vulnerability));
    yield `${results++ === 0 ? '' : ','}${jsonText(resultOf(complete))}`;
  }
  if (results < 0) yield resultsStart;
  yield '],"tool":{"driver":{';
  yield `"name":${jsonText(generator.name)},"version":${jsonText(generator.version)},"rules":[`;
  let described = 0;
  for (const rule of rules.values()) yield `${described++ === 0 ? '' : ','}${jsonText(rule)}`;
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

function runFacts({ scan_id, targets, summary }: ResultHead): string {
  const facts = {
    automationDetails: { id: `${generator.name.toLowerCase()}/${scan_id}` },
    columnKind: 'utf16CodeUnits',
    properties: { targets, summary },
  };
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

function ruleOf({ id, title, severity, cvss, references, remediation }: Finding): object {
  const helpUri = references.find(isWebAddress);
  return {
    id,
    shortDescription: { text: title },
    ...(remediation === '' ? {} : { help: { text: remediation } }),
    ...(helpUri === undefined ? {} : { helpUri }),
    defaultConfiguration: { level: levels[severity] ?? 'note' },
    properties: {
      tags: ['security'],
      ...(cvss === null ? {} : { 'security-severity': cvss.score.toFixed(1) }),
    },
  };
}

function resultOf({ host, port, protocol, vulnerability }: VulnerabilityRow): object {
  const { id, title, severity, evidence, remediation, ...facts } = vulnerability;
  const place = positionOf(host, port, protocol);
  const doubt = facts.class === 'certain' ? '' : ` (${facts.class})`;
  const text = [`${title} on ${place.name}${doubt}`, facts.backport_note, evidence]
    .filter(Boolean)
    .join('\n');
  return {
    ruleId: id,
    level: levels[severity] ?? 'note',
    kind: 'fail',
    message: { text },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: place.uri } },
        logicalLocations: [{ fullyQualifiedName: place.name, kind: 'resource' }],
      },
    ],
    fingerprints: { 'portolan/v1': fingerprint(id, host, port, protocol) },
    ...(facts.cvss === null ? {} : { rank: Math.min(100, Math.max(0, facts.cvss.score * 10)) }),
    properties: { severity, evidence, remediation, ...facts },
  };
}

/** Location of a finding: `tcp://192.0.2.1:22`, `ip://192.0.2.1` without a port; for people `192.0.2.1:22/tcp`. */
function positionOf(
  host: string,
  port: number | null,
  protocol: string | null,
): { uri: string; name: string } {
  const literal = isIPv6(host) ? `[${host}]` : host;
  // The zone of a link-local address starts with a percent sign (RFC 6874).
  const authority = encodeURI(literal).replace(/%5B/g, '[').replace(/%5D/g, ']');
  if (port === null) return { uri: `ip://${authority}`, name: host };
  return {
    uri: `${protocol ?? 'tcp'}://${authority}:${port}`,
    name: `${literal}:${port}/${protocol ?? 'tcp'}`,
  };
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

import { PortolanError } from '../../domain/errors.ts';
import { classOf, type Finding } from '../../domain/finding.ts';
import { worstFirst } from '../../domain/finding-order.ts';
import type { HostRow, PortRow, ResultRow } from '../../domain/result.ts';
import { siteTexts } from '../../domain/text/site-text.ts';
import { parseCpe } from '../../knowledge/products/cpe.ts';
import { aliasesOf } from '../../knowledge/products/cpe-aliases.ts';
import type { RuleCatalog } from '../../knowledge/rules/rule-catalog.ts';
import { allowForUpdates } from '../../knowledge/vulndb/cve-findings.ts';
import type { CveSource } from '../../knowledge/vulndb/cve-record.ts';
import { assess, rankReason } from '../../knowledge/vulndb/verdict.ts';

/** A host of a scan, or one of its ports. */
export interface PortEndpoint {
  /** Address or name. */
  host: string;
  port: number | null;
  protocol: 'tcp' | 'udp' | null;
}

/** Maximum number of explained ports per host; for more, request single ports. */
export const maxExplainedPorts = 256;
/** Maximum number of explained findings per host. */
export const maxExplainedFindings = 10_000;

type RecordedClaim = NonNullable<PortRow['fingerprints']>[number];

/** A claim about the product, and whether it was chosen. */
export interface ExplainedClaim extends Omit<RecordedClaim, 'rule'> {
  outcome: 'chosen' | 'kept beside';
  /** Why it was chosen or not. */
  reason: string;
  /** Source of the claim; null for the protocol itself. */
  rule: ExplainedRule | null;
  /** Bytes of the banner that the evidence is: offsets, the end exclusive; null if it is not a part of the banner. */
  matched: { from: number; to: number } | null;
}

export interface ExplainedRule {
  id: string;
  /** The evidence it matches, and how; null if the rule is not installed here. */
  source: string | null;
  pattern: string | null;
}

export interface ExplainedFinding extends Finding {
  /** Why it has its rank. */
  rank: string;
  /** Why it has its confidence; empty if only its module knows. */
  reasons: string[];
}

export interface ExplainedPort {
  port: number;
  protocol: string;
  state: string;
  reason: string;
  banner: string | null;
  banner_b64: string | null;
  truncated: boolean;
  /** `error`: why the handshake did not complete. */
  tls: { version: unknown; cipher: unknown; client_certificate: unknown; error: unknown } | null;
  /** Further names that were requested, with their pages and certificates. */
  sites: string[];
  claims: ExplainedClaim[];
  findings: ExplainedFinding[];
}

/** The derivation from a host's responses to the claims about it. */
export interface Explanation {
  scan_id: string;
  host: string;
  os: HostRow['os'] | null;
  ports: ExplainedPort[];
  /** Findings without a port. */
  findings: ExplainedFinding[];
  /** Number of ports and findings beyond the limit. */
  left_out: number;
}

/** Installed rules and vulnerability data for lookups. */
export interface AtHand {
  signatures: Pick<RuleCatalog, 'signatures'>;
  vulnerabilities: CveSource;
}

/** What a record has about an endpoint: rows of one host. */
export interface HostRows {
  host: HostRow | null;
  address: string | null;
  ports: PortRow[];
  findings: { port: number | null; protocol: string | null; finding: Finding }[];
  leftOut: number;
}

/**
 * Explains a host or a port from the record of a scan.
 * @param rows host rows come before the rows of the host
 * @throws PortolanError `not_found` if the record has nothing about the endpoint
 */
export async function explainEndpoint(
  scanId: string,
  rows: AsyncIterable<ResultRow>,
  place: PortEndpoint,
  atHand: AtHand,
): Promise<Explanation> {
  return explainFound(scanId, await findEndpoint(rows, place), place, atHand);
}

/** Whether a record has anything about the endpoint itself, not only about its host. */
export function hasEndpoint({ address, ports, findings }: HostRows, { port }: PortEndpoint): boolean {
  return address !== null && (port === null || ports.length > 0 || findings.length > 0);
}

/** The same from what was found. @throws PortolanError `not_found` */
export function explainFound(
  scanId: string,
  found: HostRows,
  place: PortEndpoint,
  atHand: AtHand,
): Explanation {
  if (found.address === null)
    throw new PortolanError('not_found', `The scan ${scanId} has no results of the host ${place.host}.`);
  if (!hasEndpoint(found, place))
    throw new PortolanError('not_found', `The scan ${scanId} has no port ${place.port} of ${found.address}.`);
  const context: Context = {
    os: found.host?.os ?? null,
    products: found.ports.flatMap(({ fingerprints = [] }) => fingerprints.flatMap(({ cpe }) => cpe ?? [])),
    atHand,
  };
  const ofPort = (port: PortRow) =>
    found.findings.filter((each) => each.port === port.port && each.protocol === port.protocol);
  return {
    scan_id: scanId,
    host: found.address,
    os: context.os,
    ports: found.ports.map((port) => explainPort(port, ofPort(port), context)),
    findings: found.findings
      .filter(({ port }) => port === null)
      .map(({ finding }) => explainFinding(finding, [], context)),
    left_out: found.leftOut,
  };
}

/** @param rows host rows come before the rows of the host */
export async function findEndpoint(rows: AsyncIterable<ResultRow>, place: PortEndpoint): Promise<HostRows> {
  const found: HostRows = { host: null, address: null, ports: [], findings: [], leftOut: 0 };
  for await (const row of rows) {
    if (row.type === 'host' && found.address === null && isMeant(row, place)) {
      found.host = row;
      found.address = row.host;
    }
    if (row.type !== 'port' && row.type !== 'vulnerability') continue;
    if (row.host !== (found.address ?? place.host)) continue;
    found.address = row.host;
    if (place.port !== null && (row.port !== place.port || (place.protocol ?? row.protocol) !== row.protocol))
      continue;
    if (row.type === 'port') {
      if (found.ports.length < maxExplainedPorts) found.ports.push(row);
      else found.leftOut++;
    } else if (found.findings.length < maxExplainedFindings) {
      found.findings.push({ port: row.port, protocol: row.protocol, finding: row.vulnerability });
    } else found.leftOut++;
  }
  return found;
}

function isMeant({ host, hostnames = [] }: HostRow, place: PortEndpoint): boolean {
  const requested = place.host.toLowerCase();
  return host === requested || hostnames.some((name) => name.toLowerCase() === requested);
}

interface Context {
  os: HostRow['os'] | null;
  /** CPE names of everything on the explained host. */
  products: readonly string[];
  atHand: AtHand;
}

function explainPort(row: PortRow, findings: HostRows['findings'], context: Context): ExplainedPort {
  const { port, protocol, state, reason, fingerprints = [], tls } = row;
  const [chosen] = fingerprints;
  return {
    port,
    protocol,
    state,
    reason,
    banner: row.banner ?? null,
    banner_b64: row.banner_b64 ?? null,
    truncated: row.truncated ?? false,
    tls: tls ? tlsOf(tls) : null,
    sites: siteTexts(row),
    claims: fingerprints.map((claim) => explainClaim(claim, chosen ?? claim, row, context)),
    findings: worstFirst(findings, ({ finding }) => finding).map(({ finding }) =>
      explainFinding(finding, fingerprints, context),
    ),
  };
}

function tlsOf({
  version,
  cipher,
  client_certificate,
  error,
}: NonNullable<PortRow['tls']>): ExplainedPort['tls'] {
  return {
    version: version ?? null,
    cipher: cipher ?? null,
    client_certificate: client_certificate ?? null,
    error: error ?? null,
  };
}

function explainClaim(
  { rule, ...claim }: RecordedClaim,
  chosen: RecordedClaim,
  row: PortRow,
  { atHand }: Context,
): ExplainedClaim {
  const isChosen = claim.evidence === chosen.evidence && rule === chosen.rule && claim.match === chosen.match;
  return {
    ...claim,
    outcome: isChosen ? 'chosen' : 'kept beside',
    reason: isChosen ? whyChosen(claim) : whyNotChosen(claim, chosen),
    rule: rule === undefined ? null : explainRule(rule, atHand),
    matched: placeInBanner(row, claim.evidence),
  };
}

/** Banners that are not UTF-8 are recorded as Base64 too. */
function placeInBanner({ banner, banner_b64 }: PortRow, evidence: string): ExplainedClaim['matched'] {
  if (!banner || evidence === '') return null;
  const bytes = banner_b64 ? Buffer.from(banner_b64, 'base64') : Buffer.from(banner);
  for (const encoding of ['utf8', 'latin1'] as const) {
    const sought = Buffer.from(evidence, encoding);
    const from = bytes.indexOf(sought);
    if (from >= 0) return { from, to: from + sought.length };
  }
  return placeOfHeader(bytes, evidence);
}

/** Evidence names a header in lower case, with one blank before its value; servers write both as they like (RFC 9110, 5.1). */
function placeOfHeader(bytes: Buffer, evidence: string): ExplainedClaim['matched'] {
  const [name, value] = evidence.split(/: (.*)/s, 2);
  if (!name || !value) return null;
  // One character for each byte.
  const values = [Buffer.from(value).toString('latin1'), value];
  const lines = bytes.toString('latin1').matchAll(/[^\r\n]+/g);
  for (const { 0: line, index } of lines) {
    const colon = line.indexOf(':');
    if (colon < 0 || line.slice(0, colon).toLowerCase() !== name) continue;
    const sought = values.find((each) => line.includes(each, colon));
    if (sought !== undefined) return { from: index, to: index + line.indexOf(sought, colon) + sought.length };
  }
  return null;
}

function explainRule(id: string, { signatures }: AtHand): ExplainedRule {
  const signature = signatures.signatures.find((known) => known.id === id);
  return { id, source: signature?.source ?? null, pattern: signature?.pattern ?? null };
}

function whyChosen({ product }: Omit<RecordedClaim, 'rule'>): string {
  return product === null
    ? 'no claim names a product; this is the protocol'
    : 'the claim with the highest confidence that names a product';
}

/** By the ranking of claims: with a product first, then confidence, then detail. */
function whyNotChosen(claim: Omit<RecordedClaim, 'rule'>, chosen: RecordedClaim): string {
  if (claim.product === null && chosen.product !== null) return 'names no product';
  if (claim.confidence < chosen.confidence)
    return `lower confidence: ${claim.confidence} against ${chosen.confidence}`;
  return 'same confidence, but no more detail than the other';
}

function explainFinding(
  finding: Finding,
  claims: readonly RecordedClaim[],
  context: Context,
): ExplainedFinding {
  return {
    ...finding,
    class: classOf(finding),
    rank: rankReason(finding),
    reasons: reasonsOf(finding, claims, context),
  };
}

/** Evaluates the finding again with the current data. */
function reasonsOf(
  finding: Finding,
  claims: readonly RecordedClaim[],
  { os, products, atHand }: Context,
): string[] {
  const { id, cpe, confidence } = finding;
  const claim = claims.find((each) => each.cpe === cpe);
  const name = cpe === null ? null : parseCpe(cpe);
  if (finding.plugin !== 'cve_matcher' || cpe === null || claim === undefined || name === null) return [];
  const record = aliasesOf(name.vendor, name.product)
    .flatMap(({ vendor, product }) => atHand.vulnerabilities.lookup(vendor, product))
    .find((each) => each.id === id);
  if (record === undefined) return ['The current vulnerability data does not contain it.'];
  const others = products.filter((product) => product !== cpe);
  const evaluated = assess(record, { ...claim, cpe }, { os: os ?? null, others }, atHand.vulnerabilities);
  const verdict = allowForUpdates(id, evaluated, claim.confidence);
  const sure = `Confidence: ${claim.confidence} in the product, ${confidence} in the finding.`;
  if (Math.abs(verdict.confidence - confidence) < 0.001) return [...verdict.reasons, sure];
  return [
    ...verdict.reasons,
    sure,
    `With the current data it would have confidence ${verdict.confidence}: the data or the facts about the host have changed since.`,
  ];
}

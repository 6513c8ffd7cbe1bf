import type {
  AtHand,
  ExplainedClaim,
  ExplainedFinding,
  Explanation,
  PortEndpoint,
} from '../../actions/results/explain-port.ts';
import { explainEndpoint } from '../../actions/results/explain-port.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import type { Config } from '../../config/schema.ts';
import { loadFingerprints } from '../../scan-run/catalogs/load-fingerprints.ts';
import { ScanVulnerabilities } from '../../scan-run/catalogs/scan-vulnerabilities.ts';
import { openResults } from '../../scan-run/results/open-results.ts';
import { damageNote } from '../results/damage-warning.ts';
import { readRows, scanPath } from '../results/remote-result.ts';
import { scanIn, scanOn } from '../session/scan-choice.ts';
import { namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { readConfigQuietly, withStore } from '../session/session.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { storedRecord } from '../workspace/local-record.ts';

export type ExplainFlags = ServerFlags & { format: string };

export async function explain(
  scanId: string,
  place: PortEndpoint,
  flags: ExplainFlags,
  global: GlobalFlags,
): Promise<number> {
  const explanation = await explained(scanId, place, flags, global);
  print(flags.format === 'json' ? printableJson(explanation) : explanationText(explanation));
  return 0;
}

async function explained(
  scanId: string,
  place: PortEndpoint,
  flags: ExplainFlags,
  global: GlobalFlags,
): Promise<Explanation> {
  const client = await namedClient(flags, global);
  if (client) {
    const { config } = await readConfigQuietly(global);
    const id = await scanOn(client, scanId);
    const rows = readRows(await client.download(`${scanPath(id)}/results?format=jsonl`));
    return withAtHand(config, (atHand) => explainEndpoint(id, rows, place, atHand));
  }
  return withStore(global, async (session) => {
    const { store, config } = session;
    const scan = await showScan(store, await scanIn(store, scanId));
    const results = await openResults(scan, await storedRecord(session, scan.scan_id), damageNote(store));
    try {
      return await withAtHand(config, (atHand) =>
        explainEndpoint(scan.scan_id, results.rows(), place, atHand),
      );
    } finally {
      await results.close();
    }
  });
}

/** Runs `work` with the local rules and vulnerability data. */
async function withAtHand<T>(config: Config, work: (atHand: AtHand) => Promise<T>): Promise<T> {
  const warn = (problem: string) => note(`warning: ${printable(problem)}`);
  const { catalogue, problems } = await loadFingerprints(config);
  problems.forEach(warn);
  const vulnerabilities = new ScanVulnerabilities(config, warn);
  try {
    return await work({ signatures: catalogue, vulnerabilities: await vulnerabilities.source() });
  } finally {
    vulnerabilities.close();
  }
}

/** Maximum length of a banner in text output, characters; JSON has all of it. */
const maxBannerText = 400;

/** Text output: one block per port, conclusions indented below their evidence. */
export function explanationText({ scan_id, host, os, ports, findings, left_out }: Explanation): string {
  const system = os ? [os.family, os.distribution, os.version].filter(Boolean).join(' ') : null;
  const lines = [`${host} in ${scan_id}${os && system ? `: ${system}, ${os.confidence} sure` : ''}`];
  for (const port of ports) {
    lines.push('', `${port.port}/${port.protocol} ${port.state} (${port.reason})`);
    if (port.tls) lines.push(`  TLS: ${port.tls.version} ${port.tls.cipher}`);
    lines.push(`  banner: ${bannerText(port.banner)}${port.truncated ? ' (truncated)' : ''}`);
    if (port.claims.length === 0) lines.push('  no rule matches');
    for (const claim of port.claims) lines.push(...claimLines(claim));
    if (port.findings.length === 0) lines.push('  no findings');
    for (const finding of port.findings) lines.push(...findingLines(finding));
  }
  if (findings.length > 0) lines.push('', 'the host itself');
  for (const finding of findings) lines.push(...findingLines(finding));
  if (left_out > 0) lines.push('', `${left_out} more ports not shown; specify a port`);
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function bannerText(banner: string | null): string {
  if (banner === null || banner === '') return 'nothing';
  const text = banner.trimEnd();
  return JSON.stringify(text.length > maxBannerText ? `${text.slice(0, maxBannerText)}…` : text);
}

function claimLines(claim: ExplainedClaim): string[] {
  const { outcome, reason, match, product, version, revision, cpe, confidence, source, evidence, rule } =
    claim;
  const name = [product ?? 'no product', version, revision && `(${revision})`].filter(Boolean).join(' ');
  return [
    `  ${outcome}: ${match}, ${name}, ${confidence} sure: ${reason}`,
    `    read from ${rule?.source ?? source}: ${JSON.stringify(evidence)}`,
    ...(rule
      ? [`    by rule ${rule.id}${rule.pattern === null ? ' (not installed here)' : `: ${rule.pattern}`}`]
      : []),
    ...(cpe ? [`    as ${cpe}`] : []),
  ];
}

function findingLines(finding: ExplainedFinding): string[] {
  const { id, severity, title, rank, affected, detected, confidence, evidence, backport_note, plugin } =
    finding;
  return [
    `  ${id} ${severity}: ${title}`,
    `    ${rank}`,
    ...(affected === null ? [] : [`    affected: ${affected}; detected: ${detected ?? 'no version'}`]),
    `    ${finding.class}, ${confidence} sure, by ${plugin}, from ${JSON.stringify(evidence)}`,
    ...(backport_note === null || finding.reasons.includes(backport_note) ? [] : [`    ${backport_note}`]),
    ...finding.reasons.map((reason) => `    - ${reason}`),
  ];
}

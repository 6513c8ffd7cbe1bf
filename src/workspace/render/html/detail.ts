import { systemText } from '../../../domain/asset.ts';
import {
  classOf,
  type Finding,
  type FindingClass,
  type Severity,
  severities,
} from '../../../domain/finding.ts';
import { type Produced, producersOf, producerText } from '../../../domain/producer.ts';
import type { HostRow, PortRow } from '../../../domain/result.ts';
import { htmlLines, htmlText, shortenedHtml } from './text.ts';

/** Maximum length of a banner or of evidence, characters; JSON and JSONL contain all of it. */
const shownBannerLimit = 4000;
/** Maximum number of facts shown of a service or a certificate. */
const shownFactLimit = 80;
/** Maximum length of one of them, characters. */
const shownFactLength = 500;

/** Facts about a host besides its ports. */
export function hostHeading(row: HostRow): string {
  const anchor = row.hostnames?.length
    ? ` <small>${htmlText(shortenedHtml(row.hostnames.join(', '), 600))}</small>`
    : '';
  const facts: [string, string | null | undefined][] = [
    ['State', row.state],
    ['Latency', typeof row.latency_ms === 'number' ? `${row.latency_ms.toFixed(2)} ms` : null],
    ['Found by', row.method],
    ['System', row.os && `${systemText(row.os)} (${confidenceText(row.os.confidence)})`],
    ['Device', row.device_type === 'unknown' ? null : row.device_type],
    ['MAC', [row.mac, row.vendor].filter(Boolean).join(' ')],
    [
      'Applications',
      row.applications?.map(({ name, version }) => [name, version].filter(Boolean).join(' ')).join(', '),
    ],
    ['Functions', row.functions?.join(', ')],
    ['Ports', portCounts(row)],
    ['System by', evidenceText(row.os_evidence, systemText)],
    ['Device by', evidenceText(row.device_evidence, ({ device_type }) => device_type)],
    ['Plugin', pluginsText(row)],
    ['Identity', row.identity?.map(({ kind, value }) => `${kind.replaceAll('_', ' ')} ${value}`).join(', ')],
  ];
  const tarpit = row.all_ports_open
    ? '<p><strong>This host accepts connections on nearly every port:</strong> open ports are no evidence of services here.</p>'
    : '';
  return `<header><h3 class="mono">${htmlText(row.host)}${anchor}</h3>${pairs(facts)}${tarpit}</header>\n`;
}

/** Maximum amount of evidence shown for a verdict. */
const shownEvidenceLimit = 5;
/** Maximum length of one piece, characters. */
const shownEvidenceLength = 100;

/** Evidence for and against a verdict: `22/tcp: linux debian 12 (90 %) by SSH-2.0-...`. */
function evidenceText<E extends { source: string; weight: number; evidence: string }>(
  evidence: readonly E[] | undefined,
  says: (item: E) => string,
): string {
  const items = (evidence ?? []).map((item) => {
    const evidence = shortenedHtml(item.evidence, shownEvidenceLength);
    return `${says(item)} ${confidenceText(item.weight)} by ${item.source}: ${evidence}`;
  });
  const more = items.length - shownEvidenceLimit;
  return items.slice(0, shownEvidenceLimit).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function portCounts({ port_counts }: HostRow): string {
  if (!port_counts) return '';
  const { open, closed, filtered, not_tried } = port_counts;
  return Object.entries({ open, closed, filtered, 'not tried': not_tried })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

/** The rows of one port, with the last cell left open for findings. */
export function portRows(row: PortRow, anchor: string): string {
  const { service } = row;
  const product = [service?.product, service?.version].filter(Boolean).join(' ');
  const trust = service ? ` <small>${confidenceText(service.confidence)}</small>` : '';
  const cpe = service?.cpe ? `<small class="mono">${htmlText(service.cpe)}</small>` : '';
  return (
    `<tr class="port" id="${anchor}"><th scope="row" class="mono">${htmlText(`${row.port}/${row.protocol}`)}</th>` +
    `<td>${htmlText(row.state)} <small>${htmlText(row.reason ?? '')}</small></td>` +
    `<td>${htmlText(service?.name ?? '')}${trust}${shortageNote(row)}</td><td>${htmlText(product)}</td></tr>\n` +
    `<tr class="more"><td colspan="4">${cpe}${bannerBlock(row)}${factList('TLS', row.tls)}${factList('', row.attributes)}${pairs([['Plugin', pluginsText(row)]])}`
  );
}

/** Empty for a record of builtin modules. */
function pluginsText(row: Produced): string {
  return producersOf(row).map(producerText).join(', ');
}

function shortageNote({ unidentified_reason: reason }: PortRow): string {
  return reason ? ` <small>probes timed out: ${htmlText(reason)}</small>` : '';
}

function bannerBlock({ banner, truncated, partial }: PortRow): string {
  const whole = (banner ?? '').trimEnd();
  if (whole === '') return '';
  const text = textPart(whole);
  const marks = [
    text !== whole && 'binary data follows, see the JSON format',
    truncated && 'truncated at a limit',
    partial && 'the connection was lost',
  ].filter(Boolean);
  const note = marks.length === 0 ? '' : `<small>${marks.join(', ')}</small>`;
  return `<pre>${htmlLines(shortenedHtml(text, shownBannerLimit))}</pre>${note}`;
}

/** The lines before the first NUL byte: what follows a text greeting is for programs. */
function textPart(banner: string): string {
  const nul = banner.indexOf('\\x00');
  const end = nul === -1 ? -1 : banner.lastIndexOf('\n', nul);
  return end <= 0 ? banner : banner.slice(0, end).trimEnd();
}

/** Nested facts as `a.b.c: value`, as many as are shown. */
function factList(title: string, facts: Record<string, unknown> | null | undefined): string {
  if (!facts) return '';
  const found: [string, string][] = [];
  collectFacts(found, title, facts);
  const cut = found.length > shownFactLimit ? '<small>more facts are in the JSON format</small>' : '';
  return pairs(found.slice(0, shownFactLimit)) + cut;
}

function collectFacts(found: [string, string][], name: string, value: unknown): void {
  if (found.length > shownFactLimit || value === null || value === undefined || value === '') return;
  if (Array.isArray(value) && value.every(isShort)) {
    if (value.length > 0) found.push([name, shortenedHtml(value.map(itemText).join(', '), shownFactLength)]);
  } else if (typeof value === 'object') {
    for (const [member, inner] of Object.entries(value)) {
      collectFacts(found, name === '' ? member : `${name}.${member}`, inner);
    }
  } else {
    found.push([shortenedHtml(name, 100), shortenedHtml(String(value), shownFactLength)]);
  }
}

/** A plain value, or an object of two plain members such as name and version. */
function isShort(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return true;
  const members = Object.values(item);
  return (
    !Array.isArray(item) &&
    members.length <= 2 &&
    members.every((member) => typeof member !== 'object' || member === null)
  );
}

function itemText(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  return Object.values(item)
    .filter((member) => member !== null && member !== '')
    .join(' ');
}

/** Longer pairs of name and value get a line of their own, characters. */
const columnCharacters = 46;

function pairs(facts: readonly [string, string | null | undefined][]): string {
  const given = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (given.length === 0) return '';
  const lines = given.map(
    ([name, value]) =>
      `<div${name.length + (value ?? '').length > columnCharacters ? ' class="wide"' : ''}><dt>${htmlText(name)}</dt><dd>${htmlText(value)}</dd></div>`,
  );
  return `<dl class="pairs">${lines.join('')}</dl>`;
}

/** The severity of a finding; an invalid one counts as the lowest. */
export function highestSeverity({ severity }: Pick<Finding, 'severity'>): Severity {
  return severities.includes(severity) ? severity : 'info';
}

/** One finding with its evidence and remediation. @param place its endpoint, if not clear from the context */
export function findingBlock(finding: Finding & Produced, place: string, anchor = ''): string {
  const severity = highestSeverity(finding);
  const facts: [string, string | null | undefined][] = [
    ['Detected', finding.detected],
    ['Affected', finding.affected],
    ['CPE', finding.cpe],
    ['Found by', finding.plugin],
    ['Plugin', pluginsText(finding)],
  ];
  return (
    `<div class="finding ${severity}"${anchor === '' ? '' : ` id="${anchor}"`}>` +
    `<h4><span class="badge ${severity}">${severity}</span>${classMark(classOf(finding))} ${htmlText(finding.id)} ${htmlText(shortenedHtml(finding.title, shownFactLength))}` +
    `${place === '' ? '' : ` <small>${htmlText(place)}</small>`}</h4>` +
    `<p class="metrics">${metrics(finding)}</p>` +
    `${finding.backport_note ? `<p>${htmlText(shortenedHtml(finding.backport_note, shownBannerLimit))}</p>` : ''}` +
    `${finding.evidence ? `<pre>${htmlLines(shortenedHtml(finding.evidence.trimEnd(), shownBannerLimit))}</pre>` : ''}` +
    `${finding.remediation ? `<p><b>What to do:</b> ${htmlText(shortenedHtml(finding.remediation, shownBannerLimit))}</p>` : ''}` +
    `${pairs(facts)}${referenceList(finding.references)}</div>\n`
  );
}

/** Shape of a class: full, half and hollow. */
const classDots: Record<FindingClass, string> = { certain: '●', likely: '◐', possible: '○' };

/** `● certain` */
export function classMark(name: FindingClass): string {
  return `<span class="class"><span aria-hidden="true">${classDots[name]}</span> ${name}</span>`;
}

function metrics({ cvss, kev, epss, confidence }: Finding): string {
  const parts = [
    cvss &&
      `CVSS ${htmlText(cvss.version)}: <b>${htmlText(cvss.score)}</b> <span class="mono">${htmlText(cvss.vector)}</span>`,
    kev === true && '<b>known to be exploited (KEV)</b>',
    epss && `EPSS ${htmlText(shareText(epss.score))}, percentile ${htmlText(shareText(epss.percentile))}`,
    `confidence ${htmlText(confidenceText(confidence))}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** A share of 0..1 as a percentage. */
export function shareText(share: number): string {
  return `${(Number(share) * 100).toFixed(1)} %`;
}

export function confidenceText(confidence: number | undefined): string {
  return `${Math.round(Number(confidence ?? 0) * 100)} %`;
}

/** Maximum number of references shown per finding. */
const shownReferenceLimit = 20;

function referenceList(references: string[]): string {
  if (references.length === 0) return '';
  const items = references
    .slice(0, shownReferenceLimit)
    .map((reference) => `<li>${referenceLink(reference)}</li>`);
  return `<ul>${items.join('')}</ul>`;
}

/** Only web URLs become links. */
function referenceLink(reference: string): string {
  const url = URL.parse(reference);
  const text = htmlText(shortenedHtml(reference, shownFactLength));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return text;
  return `<a href="${htmlText(url.href)}" rel="noopener noreferrer">${text}</a>`;
}

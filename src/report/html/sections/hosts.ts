import { type Severity, type SeverityCounts, severities } from '../../../domain/finding.ts';
import { urgencyRank, urgencyRanks } from '../../../domain/finding-order.ts';
import { urgencyOfKind } from '../../model/findings/kinds.ts';
import type { HostBlock, HostTotals, Report } from '../../model/report.ts';
import { fixAnchor, numberText, pluralText } from '../../model/report-text.ts';
import { exploitedHtml, severitySlots, slotSize } from '../marks.ts';
import { sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText, code } from '../text.ts';
import { hostDetail } from './host-detail.ts';
import { hostLink } from './places.ts';

/** The worst hosts, and the head of the list of all. */
export function hostsStart({ hosts, leads }: Report): string {
  const start = sectionStart('hosts', 'Hosts', leads.hosts) + worstHosts(hosts) + networkTable(hosts);
  return hosts.all === 0 ? start : start + listStart(countSize(hosts.worst));
}

export function hostsEnd({ hosts }: Report): string {
  return (hosts.all === 0 ? '' : '</div>\n</div>\n') + sectionEnd;
}

function countSize(lines: readonly { severities: SeverityCounts }[]): string {
  return slotSize(lines.map(({ severities: counts }) => counts));
}

/** From here on the list repeats what stands above it. */
const leastListed = 3;

function worstHosts({ worst, withFindings }: HostTotals): string {
  if (withFindings < leastListed) return '';
  const rows = worst.map(
    ({ host, name, exploited, severities: counts, action }) =>
      `<tr><td>${hostLink(host)}</td><td>${name === null ? '' : cellText(name)}</td><td>${exploited ? exploitedHtml : ''}</td>` +
      `<td>${severitySlots(counts)}</td><td><a href="#${fixAnchor(action)}">fix ${action}</a></td></tr>\n`,
  );
  return (
    subheading('Worst hosts', '') +
    tableStart(['Address', 'Name', 'Known', 'Findings', 'First'], `tw${countSize(worst)}`) +
    rows.join('') +
    tableEnd
  );
}

function networkTable({ networks, networksLeft }: HostTotals): string {
  if (networks.length < 2) return '';
  const rows = networks.map(
    ({ network, hosts, findings, severities: counts }) =>
      `<tr><td>${code(network)}</td><td class="r" data-u="hosts">${numberText(hosts)}</td><td class="r" data-u="findings">${numberText(findings)}</td><td>${severitySlots(counts)}</td></tr>\n`,
  );
  const note = networksLeft > 0 ? `${pluralText(networksLeft, 'more network')} in the JSON format` : '';
  return (
    subheading('Networks', note) +
    tableStart(['Network', 'Hosts|r', 'Findings|r', 'Severity'], `tw${countSize(networks)}`) +
    rows.join('') +
    tableEnd
  );
}

const choices = [
  ['group', 'with findings first'],
  ['worst', 'worst finding'],
  ['address', 'address'],
  ['ports', 'open ports'],
] as const;

/** The order of the hosts follows from the chosen button by CSS alone; see `.hl`. */
const listStart = (size: string) => `<div class="g" role="group" aria-label="Order of the hosts">${choices
  .map(
    ([name], at) => `<input class="so" type="radio" name="by" id="by-${name}"${at === 0 ? ' checked' : ''}>`,
  )
  .join(
    '',
  )}<p class="sorts">Sort by ${choices.map(([name, text]) => `<label for="by-${name}">${text}</label>`).join('')}</p>
<div class="hl${size}"><div class="hd ho" aria-hidden="true"><span></span><span>Address</span><span>Name</span><span>System</span><span class="y">Kind</span><span class="r">Open</span><span>Findings</span></div>
`;

/** A host of the list, folded. */
export function hostEntry(block: HostBlock): string {
  const { host, names, system, kind, openPorts, severities: counts, position, anchor } = block;
  const order = `--w:${worstOrder(counts, worstRankOf(block))};--a:${position};--p:${-openPorts}`;
  const name = cellText(names[0] ?? '');
  return `<details class="li ho" style="${order}"><summary><code>${cellText(host)}</code><span class="q"><span>${name}</span><span class="t2">${cellText(system ?? '–')}</span><span class="t2 y">${cellText(
    kind ?? '–',
  )}</span><span class="r">${numberText(openPorts)}<u> open</u></span>${severitySlots(counts)}</span></summary>
<div class="in" id="${anchor}">${hostDetail(block)}</div></details>
`;
}

/** Most findings that still count for the order, of the worst severity and of the next one. */
const mostCounted = { worst: 9999, next: 9999 };

/** Rank of the worst finding. */
function worstRankOf({ findings }: HostBlock): number {
  const ranks = findings.map((line) => urgencyRank(urgencyOfKind(line.kind, line.class)));
  return Math.min(urgencyRanks - 1, ...ranks);
}

/**
 * CSS `order`: hosts with a worse finding first, then those with more of them, then those with more of the next
 * severity. All of it fits into 31 bits.
 *
 * @param rank of the worst finding
 */
export function worstOrder(counts: SeverityCounts, rank: number): number {
  const worst = severities.findIndex((severity) => counts[severity] > 0);
  if (worst === -1) return 0;
  const next = severities.slice(worst + 1).find((severity) => counts[severity] > 0);
  const most = Math.min(counts[severities[worst] as Severity], mostCounted.worst);
  const more = next === undefined ? 0 : Math.min(counts[next], mostCounted.next);
  return -((urgencyRanks - rank) * 100_000_000 + most * (mostCounted.next + 1) + more);
}

import type { FindingKind, HostBlock, HostFindingLine, PortLine } from '../../model/report.ts';
import {
  confidenceText,
  fixAnchor,
  numberText,
  pluralText,
  portText,
  severityWord,
} from '../../model/report-text.ts';
import { classLetter, exploitedHtml, severityLetter } from '../marks.ts';
import { tableEnd, tableStart } from '../page.ts';
import { cellText, code, htmlLines, paragraphText } from '../text.ts';

/** Everything about one host: facts, ports with what they said, findings in the order of the fix list. */
export function hostDetail(block: HostBlock): string {
  return facts(block) + portTable(block) + findingTable(block);
}

function facts(block: HostBlock): string {
  const { names, system, systemConfidence, kind, mac, vendor, method, latencyMs } = block;
  const seenBy = [method, latencyMs === null ? null : `${latencyMs.toFixed(2)} ms`];
  const lines: [string, string][] = [
    ['Names', names.length > 1 ? names.map(cellText).join(', ') : ''],
    [
      'System',
      system === null
        ? ''
        : `${cellText(system)}${systemConfidence === null ? '' : `, confidence ${confidenceText(systemConfidence)}`}`,
    ],
    ['Kind', cellText(kind ?? '')],
    [
      'Seen by',
      seenBy
        .filter((part) => part !== null)
        .map(cellText)
        .join(', '),
    ],
    ['MAC', [mac === null ? '' : code(mac), cellText(vendor ?? '')].filter((part) => part !== '').join(' ')],
    ['Ports', portCounts(block)],
  ];
  const shown = lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`);
  const tarpit = block.allPortsOpen
    ? '<p class="note"><b>This host accepts connections on nearly every port:</b> open ports are no evidence of services here.</p>\n'
    : '';
  return `<dl>${shown.join('')}</dl>${tarpit}`;
}

function portCounts({ counts, openPorts, filteredWhy, notOpen }: HostBlock): string {
  if (counts === null) return `${numberText(openPorts)} open`;
  const { closed, filtered, notTried, planned } = counts;
  const parts: [number, string][] = [
    [counts.open, 'open'],
    [closed, 'closed'],
    [filtered, filteredWhy === '' ? 'filtered' : `filtered (${cellText(filteredWhy)})`],
    [notTried, 'not tried'],
  ];
  const found = parts.filter(([count]) => count > 0).map(([count, state]) => `${numberText(count)} ${state}`);
  const named = notOpen === '' ? '' : `: ${cellText(notOpen)}`;
  return `${found.join(', ')}, of ${numberText(planned)}${named}`;
}

function portTable({ ports, portsLeft }: HostBlock): string {
  if (ports.length === 0) return '<p class="t3">No open port is recorded.</p>\n';
  const more =
    portsLeft > 0 ? `<p class="t3">${pluralText(portsLeft, 'more port')} in the JSON format.</p>\n` : '';
  return (
    tableStart(['Port', 'Service', 'Product', 'Sure|r', 'What it said'], 'tw pt') +
    ports.map(portRow).join('') +
    tableEnd +
    more
  );
}

function portRow(line: PortLine): string {
  const { anchor, port, protocol, state, service, product, confidence, cpe } = line;
  const other = state === 'open' ? '' : ` <small>${cellText(state)}</small>`;
  const named = cpe === null ? '' : ` title="${cellText(cpe)}"`;
  return (
    `<tr id="${anchor}"><td class="a">${portText(port, protocol)}${other}</td><td>${cellText(service ?? '')}</td><td${named}>${cellText(product ?? '')}</td>` +
    `<td class="r">${confidence === null ? '' : confidenceText(confidence)}</td><td class="wd">${saidPart(line)}${portNotes(line)}</td></tr>\n`
  );
}

function portNotes({ tls, sites, missing, plugins }: PortLine): string {
  const notes = [
    tls === '' ? '' : paragraphText(tls),
    sites === '' ? '' : paragraphText(sites),
    missing === '' ? '' : `not identified: ${cellText(missing)}`,
    plugins === '' ? '' : `Plugin ${cellText(plugins)}`,
  ].filter((note) => note !== '');
  return notes.length === 0 ? '' : `<small>${notes.join('<br>')}</small>`;
}

/** A banner of one line up to this length stands in the table, longer ones are folded, characters. */
const shortBanner = 120;

/** What the port said: a short line as it is, more of it folded behind its first line. */
function saidPart({ said, saidLength }: PortLine): string {
  const text = said.trimEnd();
  if (text === '') return '';
  const line = text.split(/\r\n|[\r\n]/, 1)[0] as string;
  const left = saidLength - said.length;
  if (line === text && text.length <= shortBanner && left <= 0) return code(text);
  const first = line.slice(0, shortBanner).toWellFormed();
  const more = left > 0 ? `<p class="t3">${numberText(left)} more characters in the JSON format.</p>` : '';
  return `<details class="more"><summary>${code(first)} <small>${pluralText(saidLength, 'character')}</small></summary><pre>${htmlLines(text)}</pre>${more}</details>`;
}

function findingTable({ findings, findingsLeft }: HostBlock): string {
  if (findings.length === 0) return '';
  const more =
    findingsLeft > 0
      ? `<p class="t3">${pluralText(findingsLeft, 'more finding')} in the JSON format.</p>\n`
      : '';
  return (
    tableStart(['Severity', 'Finding', 'Port', 'Class', 'Fix|r'], 'tw ft') +
    findings.map(findingRow).join('') +
    tableEnd +
    more
  );
}

function findingRow({ kind, action, ports, class: sure }: HostFindingLine): string {
  return `<tr>${kindCells(kind)}<td class="a">${cellText(ports.join(', '))}</td><td class="${classLetter[sure]}">${sure}</td><td class="r"><a href="#${fixAnchor(action)}">${action}</a></td></tr>\n`;
}

/** The cells that are the same on every host. */
const cellsOfKinds = new WeakMap<FindingKind, string>();

function kindCells(kind: FindingKind): string {
  const known = cellsOfKinds.get(kind);
  if (known !== undefined) return known;
  const { severity, anchor, id, title, exploited } = kind;
  const cells = `<td class="w ${severityLetter[severity]}">${severityWord(severity)}</td><td><a class="a" href="#${anchor}">${cellText(id)}</a> ${cellText(title)}${exploited ? ` ${exploitedHtml}` : ''}</td>`;
  cellsOfKinds.set(kind, cells);
  return cells;
}

import { kindText } from '../../domain/asset.ts';
import { type Finding, findingClasses, type Severity, severities } from '../../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import { completeRow } from '../record/row-line.ts';
import { generator } from './generator.ts';
import { ComplianceTable } from './html-compliance.ts';
import {
  classMark,
  confidenceText,
  findingBlock,
  highestSeverity,
  hostHeading,
  portRows,
  shareText,
} from './html-detail.ts';
import { reportStyle } from './html-style.ts';
import { htmlText, shortenedHtml } from './html-text.ts';
import { inPieces } from './pieces.ts';
import type { ResultHead } from './result-head.ts';
import { TopList } from './top-list.ts';

export interface ReportHead extends ResultHead {
  /** Heading of the report; without it the scan's id stands there. */
  title?: string | null;
  /** Why the scan failed. */
  failure?: string | null;
  /** False when nothing looked for vulnerabilities: no findings are then no good news. */
  evaluated?: boolean;
}

/** Findings in the table at the front; all of them stand with their hosts. */
const maxListedFindings = 1000;
/** Hosts in the table at the front; all of them follow one by one. */
const maxListedHosts = 5000;
/** Targets that are named; of more the number. */
const maxNamedTargets = 20;

/** What the page may do: show itself. Sent as a header too where it goes out over HTTP. */
export const reportPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * One page for people, complete in itself, without a script: a summary, the worst findings, the hosts, then each host
 * with its ports, services and findings. `rows` is read twice, each time in the order of mergedRows: first for the
 * tables at the front, which are cut, then for the details, which are not; one row of those is held at a time.
 */
export async function* renderHtml(
  head: ReportHead,
  rows: () => AsyncIterable<ResultRow>,
): AsyncGenerator<string> {
  yield* inPieces(page(head, rows));
}

async function* page(head: ReportHead, rows: () => AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield pageStart(head) + summarySection(head);
  // Begun before the first reading ends: a scan that is deleted meanwhile is still read to its end.
  const details = await begin(rows());
  try {
    const overview = new Overview();
    for await (const row of rows()) overview.add(row);
    yield* overview.sections(head.evaluated ?? true);
    yield* detailSections(head, details);
  } finally {
    await details.return?.();
  }
  yield pageEnd(head);
}

/** The same rows, the first of them read already. */
async function begin(rows: AsyncIterable<ResultRow>): Promise<AsyncIterableIterator<ResultRow>> {
  const iterator = rows[Symbol.asyncIterator]();
  let first: IteratorResult<ResultRow> | null = await iterator.next();
  const begun: AsyncIterableIterator<ResultRow> = {
    [Symbol.asyncIterator]: () => begun,
    next: async () => {
      const ready = first;
      first = null;
      return ready ?? (await iterator.next());
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return begun;
}

function pageStart(head: ReportHead): string {
  const title = head.title || `Scan ${head.scan_id}`;
  const { summary } = head;
  const facts: [string, string][] = [
    ['Scan', head.scan_id],
    ['Status', head.partial ? `${head.status}, partial` : head.status],
    ['As of', head.timestamp.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')],
    ['Duration', durationText(summary.duration_seconds)],
    ['Addresses scanned', countText(summary.addresses_scanned)],
    ['Addresses excluded', countText(summary.excluded)],
    ['Catalogue', summary.catalogue_version],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlText(reportPolicy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="${htmlText(`${generator.name} ${generator.version}`)}">
<title>${htmlText(shortenedHtml(title, 200))}</title>
<style>${reportStyle}</style>
</head>
<body>
<div class="wrap">
<header>
<p class="kicker">Network scan report</p>
<h1>${htmlText(shortenedHtml(title, 200))}</h1>
<p class="soft">${htmlText(targetsText(head.targets))}</p>
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${htmlText(value)}</dd></div>`).join('')}</dl>
<nav aria-label="Parts of the report"><ul><li><a href="#summary">Summary</a></li><li><a href="#findings">Findings</a></li>
<li><a href="#hosts">Hosts</a></li><li><a href="#notes">Errors and warnings</a></li><li><a href="#details">Details</a></li></ul></nav>
</header>
<main>
`;
}

function targetsText(targets: string[]): string {
  const more = targets.length - maxNamedTargets;
  const named = targets.slice(0, maxNamedTargets).join(', ');
  return more > 0 ? `${named} and ${countText(more)} more` : named;
}

function pageEnd({ scan_id, summary }: ReportHead): string {
  return `</main>
<footer><p>Made by ${htmlText(`${generator.name} ${generator.version}`)} from scan ${htmlText(scan_id)}. Text of scanned
machines is shown as text; characters that cannot be seen appear as <code>\\xNN</code> or <code>\\u{…}</code>.</p>${dataNotice(summary.catalogue_version)}</footer>
</div>
</body>
</html>
`;
}

/** NVD asks for these words where its data is shown, and FIRST for credit. */
function dataNotice(catalogue: string): string {
  if (!catalogue.includes('+vulndb@')) return '';
  return `
<p>This product uses data from the NVD API but is not endorsed or certified by the NVD. EPSS scores come from FIRST.</p>`;
}

function summarySection(head: ReportHead): string {
  const { live_hosts, open_ports, vulnerabilities, severity_counts } = head.summary;
  const judged = (head.evaluated ?? true) || vulnerabilities > 0;
  const tiles: [string, string][] = [
    ['Hosts up', countText(live_hosts)],
    ['Open ports', countText(open_ports)],
    judged ? ['Findings', countText(vulnerabilities)] : ['Findings: not looked for', '–'],
  ];
  return `<section id="summary" aria-labelledby="summary-title">
<h2 id="summary-title">Summary</h2>
${partialNotice(head)}<div class="tiles">${tiles.map(([name, count]) => `<div class="card tile"><b>${count}</b>${name}</div>`).join('')}</div>
${judged ? `<div class="card">${severityBar(severity_counts)}</div>\n` : ''}</section>
`;
}

function partialNotice({ partial, status, failure, warnings }: ReportHead): string {
  const lines: string[] = [];
  if (warnings.some(({ code }) => code === 'record_damaged')) {
    lines.push('<strong>Recorded results are lost.</strong> What is missing here is not known to be absent.');
  } else if (partial && (status === 'completed' || status === 'failed')) {
    lines.push(
      '<strong>This scan did not reach its end.</strong> What is missing here is not known to be absent.',
    );
  } else if (partial) {
    lines.push('<strong>This scan is not finished.</strong> The report shows what it has found so far.');
  }
  if (failure) lines.push(`It failed: ${htmlText(failure)}.`);
  if (warnings.length > 0)
    lines.push(
      `<a href="#notes">${countText(warnings.length)} ${warnings.length === 1 ? 'warning' : 'warnings'}</a>`,
    );
  return lines.length === 0 ? '' : `<p class="card notice" role="note">${lines.join(' ')}</p>\n`;
}

/** Width of the bar, units of its drawing. */
const barWidth = 1000;

function severityBar(counts: Record<Severity, number>): string {
  const total = severities.reduce((sum, severity) => sum + counts[severity], 0);
  const found = severities.filter((severity) => counts[severity] > 0);
  let left = 0;
  const parts = found.map((severity) => {
    const width = (counts[severity] / total) * barWidth;
    const part = `<rect class="fill-${severity}" x="${left.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="14"/>`;
    left += width;
    return part;
  });
  const legend = severities.map(
    (severity) =>
      `<li><span class="dot fill-${severity}"></span>${severity} <b>${countText(counts[severity])}</b></li>`,
  );
  const drawing =
    total === 0
      ? ''
      : `<svg class="bar" viewBox="0 0 ${barWidth} 14" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>`;
  return `${drawing}<ul class="legend" aria-label="Findings by severity">${legend.join('')}</ul>`;
}

interface ListedFinding {
  host: string;
  port: number | null;
  protocol: string | null;
  finding: Pick<Finding, 'id' | 'title' | 'severity' | 'class' | 'cvss' | 'kev' | 'epss' | 'confidence'>;
}

interface ListedHost {
  host: string;
  names: string;
  kind: string;
  ports: number;
  allPortsOpen: boolean;
  /** Place in the order of addresses. */
  place: number;
  severities: Partial<Record<Severity, number>>;
}

/** Longest name, title or description in a table, characters. */
const cellLength = 300;

/** The tables at the front: what is worst of all that the rows tell. */
class Overview {
  readonly #findings = new TopList<ListedFinding>(maxListedFindings, byUrgency);
  readonly #hosts = new TopList<ListedHost>(maxListedHosts, byWorstFinding);
  readonly #compliance = new ComplianceTable();
  #host: ListedHost | null = null;
  #places = 0;

  add(row: ResultRow): void {
    if (row.type === 'compliance') this.#compliance.add(row);
    if (row.type === 'error' || row.type === 'compliance' || row.type === 'summary') return;
    if (row.type === 'host' || this.#host?.host !== row.host) this.#open(row);
    if (row.type === 'port' && this.#host) this.#host.ports += 1;
    if (row.type === 'vulnerability') this.#addFinding(row);
  }

  *sections(evaluated: boolean): Generator<string> {
    if (this.#host) this.#hosts.add(this.#host);
    this.#host = null;
    yield* this.#findingSection(evaluated);
    yield* this.#compliance.section();
    yield* this.#hostSection();
  }

  #open(row: HostRow | PortRow | VulnerabilityRow): void {
    if (this.#host) this.#hosts.add(this.#host);
    const known = row.type === 'host' ? row : null;
    const names = known?.hostnames ?? [];
    this.#host = {
      host: row.host,
      names: shortenedHtml(
        names.length > 1 ? `${names[0]} and ${names.length - 1} more` : (names[0] ?? ''),
        cellLength,
      ),
      kind: shortenedHtml(known ? kindText(known) : '', cellLength),
      ports: 0,
      allPortsOpen: known?.all_ports_open ?? false,
      place: this.#places++,
      severities: {},
    };
  }

  #addFinding(row: VulnerabilityRow): void {
    const { host, port, protocol, vulnerability } = completeRow(row);
    const { id, title, cvss, kev, epss, confidence, class: sureness } = vulnerability;
    const severity = highestSeverity(vulnerability);
    if (this.#host) this.#host.severities[severity] = (this.#host.severities[severity] ?? 0) + 1;
    const shown = { id, title: shortenedHtml(title, cellLength), severity, class: sureness };
    const finding = { ...shown, cvss, kev, epss, confidence };
    this.#findings.add({ host, port, protocol, finding });
  }

  *#findingSection(evaluated: boolean): Generator<string> {
    yield '<section id="findings" aria-labelledby="findings-title">\n<h2 id="findings-title">Findings</h2>\n';
    const listed = this.#findings.items();
    if (listed.length === 0) {
      const none = evaluated ? 'No findings are recorded.' : 'This scan did not look for vulnerabilities.';
      yield `<p class="card">${none}</p>\n</section>\n`;
      return;
    }
    const cut = cutNote(listed.length, this.#findings.seen, 'findings', 'most urgent');
    yield `<div class="card scroll"><table><caption>Worst first; known exploited ones before others of their severity, certain ones before likely and possible ones.${cut}</caption>
<thead><tr><th scope="col">Severity</th><th scope="col">Class</th><th scope="col">Finding</th><th scope="col">Where</th><th scope="col" class="num">CVSS</th>
<th scope="col" class="num">EPSS</th><th scope="col">KEV</th></tr></thead><tbody>
`;
    for (const item of listed) yield findingLine(item);
    yield '</tbody></table></div>\n</section>\n';
  }

  *#hostSection(): Generator<string> {
    yield '<section id="hosts" aria-labelledby="hosts-title">\n<h2 id="hosts-title">Hosts</h2>\n';
    const listed = this.#hosts.items();
    if (listed.length === 0) {
      yield '<p class="card">No host is recorded.</p>\n</section>\n';
      return;
    }
    yield hostTableStart(cutNote(listed.length, this.#hosts.seen, 'hosts', 'first'));
    for (const item of listed) yield hostLine(item);
    yield '</tbody></table></div>\n</section>\n';
  }
}

function cutNote(listed: number, seen: number, what: string, which: string): string {
  if (listed === seen) return '';
  return ` The ${which} ${countText(listed)} of ${countText(seen)} ${what}; all stand under <a href="#details">Details</a>.`;
}

function rank(severity: Severity): number {
  return severities.indexOf(severity);
}

function byUrgency({ finding: a }: ListedFinding, { finding: b }: ListedFinding): number {
  return (
    rank(a.severity) - rank(b.severity) ||
    Number(b.kev === true) - Number(a.kev === true) ||
    findingClasses.indexOf(a.class) - findingClasses.indexOf(b.class) ||
    (b.cvss?.score ?? 0) - (a.cvss?.score ?? 0) ||
    (b.epss?.score ?? 0) - (a.epss?.score ?? 0)
  );
}

/** Hosts with a worse finding first, then those with more of them; hosts of the same findings by address. */
function byWorstFinding(a: ListedHost, b: ListedHost): number {
  for (const severity of severities) {
    const more = (b.severities[severity] ?? 0) - (a.severities[severity] ?? 0);
    if (more !== 0) return more;
  }
  return a.place - b.place;
}

function findingLine({ host, port, protocol, finding }: ListedFinding): string {
  const { id, title, severity, cvss, kev, epss } = finding;
  const where = port === null ? host : `${host} ${port}/${protocol}`;
  return (
    `<tr><td><span class="badge ${severity}">${severity}</span></td>` +
    `<td>${classMark(finding.class)}<br><small>${htmlText(confidenceText(finding.confidence))}</small></td>` +
    `<td><b>${htmlText(id)}</b><br>${htmlText(title)}</td>` +
    `<td class="mono"><a href="#${anchorOf(host, port, protocol)}">${htmlText(where)}</a></td>` +
    `<td class="num">${cvss === null ? '' : htmlText(cvss.score)}</td>` +
    `<td class="num">${epss === null ? '' : htmlText(shareText(epss.score))}</td>` +
    `<td>${kev === true ? 'yes' : ''}</td></tr>\n`
  );
}

/** The order of the rows follows from the chosen button by style alone; see `.sortable`. */
function hostTableStart(cut: string): string {
  const choice = (name: string, text: string, checked = '') =>
    [
      `<input class="sort" type="radio" name="sort" id="sort-${name}"${checked}>`,
      `<label for="sort-${name}">${text}</label>`,
    ] as const;
  const choices = [
    choice('severity', 'worst finding', ' checked'),
    choice('address', 'address'),
    choice('ports', 'open ports'),
  ];
  const column = (text: string, kind = '') => `<th scope="col" role="columnheader"${kind}>${text}</th>`;
  return `${choices.map(([input]) => input).join('')}<p class="sorts">Sort by ${choices.map(([, label]) => label).join('')}${cut}</p>
<div class="card scroll"><table class="sortable" role="table" aria-labelledby="hosts-title"><thead role="rowgroup"><tr role="row">
${column('Address')}${column('Name')}${column('Kind')}${column('Open ports', ' class="num"')}${column('Findings')}</tr></thead><tbody role="rowgroup">
`;
}

function hostLine({ host, names, kind, ports, allPortsOpen, place, severities: counts }: ListedHost): string {
  const badges = severities
    .filter((severity) => counts[severity])
    .map((severity) => `<span class="badge ${severity}">${counts[severity]} ${severity}</span>`);
  return (
    `<tr role="row" style="--a:${place};--p:${-ports}"><th scope="row" role="rowheader" class="mono"><a href="#${anchorOf(host)}">${htmlText(host)}</a></th>` +
    `<td role="cell">${htmlText(names)}</td><td role="cell">${htmlText(kind)}</td>` +
    `<td role="cell" class="num">${countText(ports)}${allPortsOpen ? ' <small>accepts all</small>' : ''}</td>` +
    `<td role="cell">${badges.join(' ')}</td></tr>\n`
  );
}

/** Errors and warnings, then host after host. */
async function* detailSections(head: ReportHead, rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield notesStart(head);
  const body = new DetailBody(head.warnings.length > 0);
  for await (const row of rows) yield body.add(row);
  yield body.end();
}

function notesStart({ warnings }: ReportHead): string {
  const lines = warnings.map(({ code, message, node, target }) => {
    const subject = [node, target].filter(Boolean).join(' ');
    return `<li>${subject === '' ? '' : `<b>${htmlText(subject)}</b>: `}${htmlText(message)} <small>warning, ${htmlText(code)}</small></li>\n`;
  });
  return `<section id="notes" aria-labelledby="notes-title">\n<h2 id="notes-title">Errors and warnings</h2>\n<ul class="card">\n${lines.join('')}`;
}

class DetailBody {
  #anyNote: boolean;
  #inHosts = false;
  #host: string | null = null;
  #anyPort = false;
  #port: PortRow | null = null;
  #loose: string[] = [];
  readonly #loosePorts = new Set<string>();

  constructor(anyNote: boolean) {
    this.#anyNote = anyNote;
  }

  add(row: ResultRow): string {
    switch (row.type) {
      case 'error':
        return this.#error(row.target, row.message, row.code);
      case 'host':
        return this.#openHost(row);
      case 'port':
        return this.#expectHost(row) + this.#openPort(completeRow(row));
      case 'vulnerability':
        return this.#expectHost(row) + this.#finding(completeRow(row));
      case 'compliance':
      case 'summary':
        return '';
    }
  }

  end(): string {
    const none = this.#inHosts ? '' : `${this.#startHosts()}<p class="card">No host is recorded.</p>\n`;
    return `${none}${this.#endHost()}</section>\n`;
  }

  #error(target: string | null, message: string, code: string): string {
    this.#anyNote = true;
    const subject = target === null ? '' : `<b>${htmlText(target)}</b>: `;
    return `<li>${subject}${htmlText(message)} <small>error, ${htmlText(code)}</small></li>\n`;
  }

  #startHosts(): string {
    if (this.#inHosts) return '';
    this.#inHosts = true;
    const none = this.#anyNote ? '' : '<li>none</li>\n';
    return `${none}</ul>\n</section>\n<section id="details" aria-labelledby="details-title">\n<h2 id="details-title">Details</h2>\n`;
  }

  #expectHost(row: PortRow | VulnerabilityRow): string {
    if (this.#host === row.host) return '';
    return this.#openHost({ type: 'host', timestamp: row.timestamp, host: row.host, state: 'up' });
  }

  #openHost(row: HostRow): string {
    const before = this.#startHosts() + this.#endHost();
    this.#host = row.host;
    return `${before}<section class="card host" id="${anchorOf(row.host)}">\n${hostHeading(row)}`;
  }

  #openPort(row: PortRow): string {
    const before = this.#anyPort ? this.#endPort() : portTableStart;
    this.#anyPort = true;
    this.#port = row;
    return `${before}${portRows(row, anchorOf(row.host, row.port, row.protocol))}`;
  }

  #finding({ host, port, protocol, vulnerability }: VulnerabilityRow): string {
    if (this.#port?.port === port && this.#port?.protocol === protocol)
      return findingBlock(vulnerability, '');
    // No row of this port: the finding ends the host and says itself where it is.
    const place = port === null ? '' : `${port}/${protocol}`;
    const anchor = port === null || this.#loosePorts.has(place) ? '' : anchorOf(host, port, protocol);
    this.#loosePorts.add(place);
    this.#loose.push(findingBlock(vulnerability, place, anchor));
    return '';
  }

  #endPort(): string {
    const end = this.#port === null ? '' : '</td></tr>\n';
    this.#port = null;
    return end;
  }

  #endHost(): string {
    if (this.#host === null) return '';
    const ports = this.#anyPort
      ? `${this.#endPort()}</tbody></table></div>\n`
      : '<p class="none soft">No open port is recorded.</p>\n';
    const loose = this.#loose.length === 0 ? '' : `<div class="loose">${this.#loose.join('')}</div>\n`;
    this.#host = null;
    this.#anyPort = false;
    this.#loose = [];
    this.#loosePorts.clear();
    return `${ports}${loose}</section>\n`;
  }
}

const portTableStart = `<div class="scroll"><table><thead><tr><th scope="col">Port</th><th scope="col">State</th><th scope="col">Service</th>
<th scope="col">Product</th></tr></thead><tbody>
`;

/** The anchor of a host or of one of its ports. */
function anchorOf(host: string, port: number | null = null, protocol: string | null = null): string {
  const place = port === null ? '' : `-${port}-${protocol}`;
  // Letters, digits and hyphens only: an address keeps its identity, and nothing needs escaping anywhere.
  return `h-${host.replace(/[^\w-]/g, (character) => `-${character.charCodeAt(0).toString(16)}-`)}${place}`;
}

function countText(count: number): string {
  return Number(count).toLocaleString('en-US');
}

function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return `${hours > 0 ? `${hours} h ` : ''}${minutes} min ${whole % 60} s`;
}

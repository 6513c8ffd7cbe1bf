import { kindText } from '../../../domain/asset.ts';
import { type Finding, findingClasses, type Severity, severities } from '../../../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import { completeRow } from '../../record/row-line.ts';
import { anchorOf } from './anchor.ts';
import { ComplianceTable } from './compliance.ts';
import { classMark, confidenceText, highestSeverity, shareText } from './detail.ts';
import { ExtraTable } from './extra.ts';
import { countText } from './numbers.ts';
import { htmlText, shortenedHtml } from './text.ts';
import { TopList } from './top-list.ts';

/** Maximum number of findings in the table at the front; all are listed with their hosts. */
const maxListedFindings = 1000;

/** Maximum number of hosts in the table at the front; all follow one by one. */
const maxListedHosts = 5000;

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
  /** Position in address order. */
  place: number;
  severities: Partial<Record<Severity, number>>;
}

/** Longest name, title or description in a table, characters. */
const cellLength = 300;

/** The tables at the front: the worst of all rows. */
export class Overview {
  readonly #findings = new TopList<ListedFinding>(maxListedFindings, byUrgency);
  readonly #hosts = new TopList<ListedHost>(maxListedHosts, byWorstFinding);
  readonly #compliance = new ComplianceTable();
  readonly #extras = new ExtraTable();
  #host: ListedHost | null = null;
  #places = 0;

  add(row: ResultRow): void {
    if (row.type === 'compliance') this.#compliance.add(row);
    if (row.type === 'extra') this.#extras.add(row);
    if (row.type !== 'host' && row.type !== 'port' && row.type !== 'vulnerability') return;
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
    yield* this.#extras.section();
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

/** Hosts with a worse finding first, then those with more of them; ties by address. */
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

/** The order of the rows follows from the chosen button by CSS alone; see `.sortable`. */
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

import { producerMark } from '../../../domain/producer.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import { completeRow } from '../../record/row-line.ts';
import type { ReportHead } from '../report-head.ts';
import { anchorOf } from './anchor.ts';
import { findingBlock, hostHeading, portRows } from './detail.ts';
import { htmlText } from './text.ts';

/** Errors and warnings, then host after host. */
export async function* detailSections(
  head: ReportHead,
  rows: AsyncIterable<ResultRow>,
): AsyncGenerator<string> {
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
      case 'extra':
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

  #finding(row: VulnerabilityRow): string {
    const { host, port, protocol } = row;
    const finding = { ...row.vulnerability, ...producerMark(row) };
    if (this.#port?.port === port && this.#port?.protocol === protocol) return findingBlock(finding, '');
    // No row of this port: the finding ends the host and states its port itself.
    const place = port === null ? '' : `${port}/${protocol}`;
    const anchor = port === null || this.#loosePorts.has(place) ? '' : anchorOf(host, port, protocol);
    this.#loosePorts.add(place);
    this.#loose.push(findingBlock(finding, place, anchor));
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

import type { OperatingSystem } from '../../domain/asset.ts';
import { filteredReasons, listedPorts, listedText, type NamedPort } from '../../domain/port-reason-texts.ts';
import { doubtOf, type HostRow, isOpen, type PortRow } from '../../domain/result.ts';
import { serviceNameOf } from '../../knowledge/ports.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { drawTable, type Narrowing, type TableColumn, wrapWords } from '../terminal/draw/columns.ts';
import { printable } from '../terminal/draw/printable.ts';
import { paint, type TerminalStyle } from '../terminal/draw/style.ts';
import { portEvidence } from './port-evidence.ts';

/** One host of the result: a line about it, its ports, and how many others there are. */
export class HostLines {
  readonly #host: HostRow;
  readonly #style: TerminalStyle;
  readonly #ports: PortRow[] = [];

  constructor(host: HostRow, style: TerminalStyle) {
    this.#host = host;
    this.#style = style;
  }

  get address(): string {
    return this.#host.host;
  }

  get #isTarpit(): boolean {
    return this.#host.all_ports_open === true;
  }

  add(row: PortRow): void {
    this.#ports.push(row);
  }

  get isEmpty(): boolean {
    return this.#ports.length === 0 && !this.#host.all_ports_open;
  }

  /** Nothing is known but that the host is up. */
  get isPlain(): boolean {
    const { port_counts: counts, hostnames, mac } = this.#host;
    return this.isEmpty && !counts?.filtered && !hostnames?.length && !mac && kindOf(this.#host) === '';
  }

  render(): string {
    if (this.isEmpty) return `${this.#header()}\n`;
    const rows = [...this.#ports, ...this.#listed()];
    const table =
      this.#ports.length === 0
        ? ''
        : drawTable(portColumns(this.#isTarpit), rows, this.#style, portNarrowing);
    return `${this.#header()}\n${table}${this.#notes()}`;
  }

  /** `127.0.7.10  up, 1.1 ms; server, Debian 12; mail.example.net` */
  #header(): string {
    const host = this.#host;
    const latency = typeof host.latency_ms === 'number' ? `, ${latencyText(host.latency_ms)}` : '';
    const card = [host.mac, host.vendor && `(${host.vendor})`].filter(Boolean).join(' ');
    const facts = [
      `${host.state}${latency}`,
      kindOf(host),
      card,
      (host.hostnames ?? []).join(', '),
      this.isEmpty ? this.#emptyText() : '',
    ];
    const text = printable(`${host.host}  ${facts.filter(Boolean).join('; ')}`);
    const lines = this.#style.terminal ? wrapWords(text, this.#style.columns - 1) : [text];
    const address = printable(host.host);
    const [first = '', ...others] = lines;
    return [paint(this.#style, address, 'bold') + first.slice(address.length), ...others].join('\n  ');
  }

  /** Ports that are not open and have no row, if there are few. */
  #listed(): NamedPort[] {
    return listedPorts(this.#host, this.#ports.filter((port) => !isOpen(port)).length);
  }

  /** `3 ports filtered: no response`, `no open port: 22, 80/tcp closed (rst), 443/tcp filtered (no response)` */
  #emptyText(): string {
    const { closed = 0, filtered = 0, not_tried = 0 } = this.#host.port_counts ?? {};
    if (closed + filtered + not_tried === 0) return '';
    const listed = this.#listed();
    if (listed.length > 0) return `no open port: ${listedText(listed)}`;
    const why = filteredReasons(this.#host) || 'no response';
    if (closed + not_tried === 0) return `${countText(filtered, 'port')} filtered: ${why}`;
    const others = this.#otherPorts();
    return `no open port: ${others}`;
  }

  #notes(): string {
    const notes: string[] = [];
    const others = this.#listed().length > 0 ? '' : this.#otherPorts();
    if (others !== '') notes.push(paint(this.#style, `not shown: ${others}`, 'dim'));
    if (this.#isTarpit) notes.push(paint(this.#style, this.#tarpitText(), 'yellow'));
    return notes.map((text) => `${text}\n`).join('');
  }

  /** `this host accepts nearly every connection; open ports alone are not evidence of services: 40 unproven, 836 not probed` */
  #tarpitText(): string {
    const doubts = this.#ports.map((row) => doubtOf(row, true));
    const [unproven, left] = (['unproven', 'tarpit'] as const).map(
      (reason) => doubts.filter((doubt) => doubt === reason).length,
    ) as [number, number];
    const counts = [
      ...(unproven > 0 ? [`${amountText(unproven)} unproven`] : []),
      ...(left > 0 ? [`${amountText(left)} not probed`] : []),
    ];
    const text = 'this host accepts nearly every connection; open ports alone are not evidence of services';
    return counts.length === 0 ? text : `${text}: ${counts.join(', ')}`;
  }

  /** `997 closed, 2 filtered (admin-prohibited from 10.0.0.254)`, without those that have a line */
  #otherPorts(): string {
    const { closed = 0, filtered = 0, not_tried = 0 } = this.#host.port_counts ?? {};
    const silent = this.#ports.filter((port) => !isOpen(port)).length;
    const counts = { closed, filtered: filtered - silent, 'not tried': not_tried };
    const why = filteredReasons(this.#host);
    return Object.entries(counts)
      .filter(([, amount]) => amount > 0)
      .map(([state, amount]) => {
        const reasons = state === 'filtered' && why !== '' ? ` (${why})` : '';
        return `${amountText(amount)} ${state}${reasons}`;
      })
      .join(', ');
  }
}

const portColumns = (isTarpit: boolean): TableColumn<PortRow | NamedPort>[] => [
  {
    head: 'PORT',
    cell: ({ port, protocol }) => `${port}/${protocol}`,
  },
  {
    head: 'STATE',
    cell: ({ state }) => state ?? 'open',
    paint: (row) => (!('why' in row) && isOpen(row) ? 'green' : null),
  },
  {
    head: 'SERVICE',
    cell: (row) => ('why' in row ? undefined : row.service?.name) ?? usualName(row),
    over: 'end',
  },
  {
    head: 'PRODUCT',
    cell: (row) =>
      'why' in row ? '' : [row.service?.product, row.service?.version].filter(Boolean).join(' '),
    over: 'end',
  },
  {
    head: 'EVIDENCE',
    cell: (row) => ('why' in row ? row.why : portEvidence(row, Date.parse(row.timestamp), isTarpit)),
    over: 'end',
  },
];

/** What has no room goes to a second line. */
const portNarrowing: Narrowing = [
  ['EVIDENCE', 12],
  ['PRODUCT', 12],
  ['SERVICE', 16],
  ['STATE', 0],
  ['EVIDENCE', 0],
];

/** The name that is usual for the port, if nothing identified its service. */
function usualName({ port, protocol }: Pick<PortRow, 'port' | 'protocol'>): string {
  const name = serviceNameOf(port, protocol);
  return name === null ? '' : `${name}?`;
}

/** `server, Debian 12` */
function kindOf({ device_type, os }: HostRow): string {
  const device = device_type === 'unknown' ? null : device_type;
  return [device, os && systemName(os)].filter(Boolean).join(', ');
}

function systemName({ family, distribution, version }: OperatingSystem): string {
  const name = distribution || family;
  return [name.charAt(0).toUpperCase() + name.slice(1), version].filter(Boolean).join(' ');
}

function latencyText(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

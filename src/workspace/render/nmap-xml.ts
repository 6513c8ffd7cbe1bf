import { isIPv6 } from 'node:net';
import type { Finding } from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import type { Protocol } from '../../domain/host.ts';
import { parsePorts } from '../../domain/port.ts';
import type { PortReason } from '../../domain/port-reasons.ts';
import {
  type HostRow,
  isOpen,
  type PortRow,
  type ResultRow,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import type { StageRecord } from '../../domain/scan.ts';
import { anyInterface, parseTargets } from '../../domain/targets/target.ts';
import { visibleText } from '../../domain/text/visible.ts';
import { portCatalog, serviceNameOf } from '../../knowledge/ports.ts';
import { completeRow } from '../record/row-line.ts';
import { cpeUri } from './cpe-uri.ts';
import { generator } from './generator.ts';
import { type NmapScript, portScripts, type ScriptTable } from './nmap-scripts.ts';
import { inPieces } from './pieces.ts';
import type { ResultHead } from './result-head.ts';

/** How the scan was made, as the XML says it. */
export interface NmapRun {
  /** The command that repeats the scan; null = unknown. */
  command: string | null;
  stages: readonly Pick<StageRecord, 'method'>[];
}

/**
 * The XML output format of nmap, version 1.05, for programs that import it: hosts, ports, services and operating
 * systems in its elements, banners and findings in a `script` element. `rows` are in the order of `RecordView.rows`; one port
 * is in memory at a time, of a host with silent UDP ports its elements.
 */
export async function* renderNmapXml(
  head: ResultHead,
  rows: AsyncIterable<ResultRow>,
  run: NmapRun = { command: null, stages: [] },
): AsyncGenerator<string> {
  yield* inPieces(document(head, rows, run));
}

async function* document(
  head: ResultHead,
  rows: AsyncIterable<ResultRow>,
  run: NmapRun,
): AsyncGenerator<string> {
  yield opening(head, run);
  const names = new Set(parseTargets(head.targets, anyInterface).hostnames);
  const facts = { start: startOf(head), names };
  let host: OpenHost | null = null;
  for await (const row of rows) {
    if (row.type !== 'host' && row.type !== 'port' && row.type !== 'vulnerability') continue;
    if (row.type !== 'host' && host?.address === row.host) {
      yield host.add(row);
      continue;
    }
    if (host) yield host.end();
    host = new OpenHost(row.host, facts);
    yield host.start(row);
    if (row.type !== 'host') yield host.add(row);
  }
  if (host) yield host.end();
  yield closing(head);
}

/** Seconds since 1970. */
function startOf({ timestamp, summary }: ResultHead): number {
  return Math.max(0, Math.floor(secondsOf(timestamp) - summary.duration_seconds));
}

function opening(head: ResultHead, run: NmapRun): string {
  const { scan_id, targets } = head;
  const start = startOf(head);
  // The format knows one scanner; `args` names the actual one. Importers check both.
  const facts = {
    scanner: 'nmap',
    args: run.command ?? `${generator.name.toLowerCase()} scan ${shownTargets(targets)}`,
    start: String(start),
    startstr: timeText(start),
    version: generator.version,
    xmloutputversion: '1.05',
  };
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE nmaprun>\n' +
    `<!-- ${generator.name} ${generator.version}, scan ${scan_id} -->\n` +
    `<nmaprun${attributes(facts)}>\n${scanInfo(head, run)}<verbose level="0"/>\n<debugging level="0"/>\n`
  );
}

/** An element per protocol, in nmap's words. */
function scanInfo({ summary: { ports } }: ResultHead, { stages }: NmapRun): string {
  const isRaw = stages.some(({ method }) => method?.startsWith('raw packets'));
  const types: Record<Protocol, string> = { tcp: isRaw ? 'syn' : 'connect', udp: 'udp' };
  return (['tcp', 'udp'] as const)
    .flatMap((protocol) => {
      const services = ports?.[protocol];
      if (!services) return [];
      const numservices = String(parsePorts(services, portCatalog).tcp.length);
      return `<scaninfo${attributes({ type: types[protocol], protocol, numservices, services })}/>\n`;
    })
    .join('');
}

/** Maximum number of targets in `args`; the rest is counted. */
const namedTargets = 20;

function shownTargets(targets: string[]): string {
  const more = targets.length - namedTargets;
  return `${targets.slice(0, namedTargets).join(' ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

function closing({ timestamp, status, partial, summary, warnings }: ResultHead): string {
  const damage = warnings.find(({ code }) => code === 'record_damaged');
  const { live_hosts, open_ports, addresses_scanned, duration_seconds } = summary;
  const time = Math.floor(secondsOf(timestamp));
  const total = Math.max(addresses_scanned, live_hosts);
  const finished = {
    time: String(time),
    timestr: timeText(time),
    elapsed: duration_seconds.toFixed(2),
    summary: `${generator.name}: ${total} addresses (${live_hosts} up, ${open_ports} open ports) in ${duration_seconds.toFixed(2)} s; ${status}${partial ? ', partial' : ''}`,
    exit: partial ? 'error' : 'success',
    ...(partial
      ? { errormsg: damage?.message ?? `the scan is ${status}; this is what it has found so far` }
      : {}),
  };
  const hosts = { up: String(live_hosts), down: String(total - live_hosts), total: String(total) };
  return `<runstats><finished${attributes(finished)}/><hosts${attributes(hosts)}/></runstats>\n</nmaprun>\n`;
}

function secondsOf(timestamp: string): number {
  const milliseconds = Date.parse(timestamp);
  return Number.isFinite(milliseconds) ? milliseconds / 1000 : 0;
}

/** As formatted by the C library, e.g. `Sat Nov 21 12:00:00 2026`, in UTC. */
function timeText(seconds: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(seconds * 1000)
    .toUTCString()
    .split(' ');
  return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
}

/** What all hosts have in common. */
interface HostFacts {
  /** Start of the scan, seconds since 1970. */
  start: number;
  /** Names among the targets. */
  names: ReadonlySet<string>;
}

/** The element of one host, written as its rows arrive. */
class OpenHost {
  readonly address: string;
  readonly #facts: HostFacts;
  #row: HostRow | null = null;
  /** Elements that wait for the number of silent ports among them, which precedes them; null = none do. */
  #held: string[] | null = null;
  #silent = 0;
  #port: PortRow | null = null;
  #portScripts: NmapScript[] = [];
  readonly #hostScripts: NmapScript[] = [];
  #isTarpit = false;

  constructor(address: string, facts: HostFacts) {
    this.address = address;
    this.#facts = facts;
  }

  /** @param first the first row of the host */
  start(first: HostRow | PortRow | VulnerabilityRow): string {
    const row = first.type === 'host' ? first : null;
    this.#row = row;
    const { start, names } = this.#facts;
    const end = Math.max(start, Math.floor(secondsOf(first.timestamp)));
    const times = { starttime: String(start), endtime: String(end) };
    this.#isTarpit = row?.all_ports_open === true;
    if (this.#isTarpit) this.#hostScripts.push(tarpitScript);
    const status = { state: 'up', reason: row?.method ?? 'user-set', reason_ttl: '0' };
    const before =
      `<host${attributes(times)}><status${attributes(status)}/>${addresses(this.address, row)}` +
      `${hostnames(row, names)}${operatingSystem(row)}<ports>`;
    if ((row?.udp_port_counts?.filtered ?? 0) === 0) return before + extraPorts(row, 0);
    this.#held = [];
    return before;
  }

  add(row: PortRow | VulnerabilityRow): string {
    if (row.type === 'port' && !isOpen(row)) this.#silent += 1;
    const element = this.#elementOf(row);
    if (this.#held === null) return element;
    this.#held.push(element);
    return '';
  }

  #elementOf(row: PortRow | VulnerabilityRow): string {
    if (row.type === 'port') {
      const end = this.#endPort();
      this.#port = row;
      const complete = completeRow(row);
      this.#portScripts = portScripts(complete, this.#isTarpit);
      return end + portStart(complete);
    }
    const isOfPort = this.#port?.port === row.port && this.#port?.protocol === row.protocol;
    const scripts = isOfPort ? this.#portScripts : this.#hostScripts;
    scripts.push(findingScript(completeRow(row).vulnerability));
    return '';
  }

  end(): string {
    const scripts = scriptElement(this.#hostScripts);
    const held = this.#held === null ? '' : extraPorts(this.#row, this.#silent) + this.#held.join('');
    return `${held}${this.#endPort()}</ports>${scripts === '' ? '' : `<hostscript>${scripts}</hostscript>`}</host>\n`;
  }

  #endPort(): string {
    const end = this.#port === null ? '' : `${scriptElement(this.#portScripts)}</port>`;
    this.#port = null;
    return end;
  }
}

function addresses(host: string, row: HostRow | null): string {
  const own = { addr: host, addrtype: isIPv6(host) ? 'ipv6' : 'ipv4' };
  const mac = row?.mac
    ? `<address${attributes({ addr: row.mac.toUpperCase(), addrtype: 'mac', vendor: row.vendor })}/>`
    : '';
  return `<address${attributes(own)}/>${mac}`;
}

/** Names of the targets have the type `user`, those that a host says of itself none: nothing is resolved backwards. */
function hostnames(row: HostRow | null, requested: ReadonlySet<string>): string {
  const names = (row?.hostnames ?? []).map(
    (name) => `<hostname${attributes({ name, type: requested.has(name) ? 'user' : null })}/>`,
  );
  return `<hostnames>${names.join('')}</hostnames>`;
}

function operatingSystem(row: HostRow | null): string {
  if (!row?.os) return '';
  const { family, distribution, version, confidence } = row.os;
  const name = [family, distribution, version].filter(Boolean).join(' ');
  const accuracy = String(Math.round(confidence * 100));
  const [vendor, osfamily] = systemNames.get(family.toLowerCase()) ?? [family, family];
  // The generation of Linux is that of its kernel, which the version of a distribution is not.
  const osgen = osfamily === 'Linux' ? null : version;
  const type = row.device_type === 'unknown' ? null : row.device_type?.replaceAll('_', ' ');
  return (
    `<os><osmatch${attributes({ name, accuracy, line: '0' })}>` +
    `<osclass${attributes({ type, vendor, osfamily, osgen, accuracy })}/></osmatch></os>`
  );
}

/** Vendor and family in nmap's words, by family; of others both are the family. */
const systemNames = new Map<string, readonly [vendor: string, family: string]>([
  ['linux', ['Linux', 'Linux']],
  ['windows', ['Microsoft', 'Windows']],
  ['macos', ['Apple', 'macOS']],
  ['freebsd', ['FreeBSD', 'FreeBSD']],
  ['netbsd', ['NetBSD', 'NetBSD']],
  ['openbsd', ['OpenBSD', 'OpenBSD']],
  ['solaris', ['Sun', 'Solaris']],
  ['ios', ['Cisco', 'IOS']],
  ['cisco ios', ['Cisco', 'IOS']],
  ['esxi', ['VMware', 'ESXi']],
  ['routeros', ['MikroTik', 'RouterOS']],
  ['android', ['Google', 'Android']],
  ['aix', ['IBM', 'AIX']],
]);

/** @param silent filtered ports with an element of their own */
function extraPorts(row: HostRow | null, silent: number): string {
  const { closed = 0, filtered = 0 } = row?.port_counts ?? {};
  const reasons = row?.port_reasons ?? [];
  const counted = Object.entries({ closed, filtered }).flatMap(([state, count]) => {
    const own = reasons.filter((each) => (each.state === 'closed' ? 'closed' : 'filtered') === state);
    const named = own.reduce((sum, { ports }) => sum + ports.length, state === 'filtered' ? silent : 0);
    const left = count - named;
    if (left <= 0) return [];
    const start = `<extraports${attributes({ state, count: String(left) })}`;
    const extra = own.map((each) => extraReason(each, silent)).join('');
    return [extra === '' ? `${start}/>` : `${start}>${extra}</extraports>`];
  });
  return [...counted, ...reasons.flatMap(rejectedPorts)].join('');
}

/** Words of nmap for reasons. */
const nmapReasons: Record<string, string> = {
  rst: 'reset',
  'net-unreachable': 'net-unreach',
  'host-unreachable': 'host-unreach',
  'proto-unreachable': 'proto-unreach',
  'port-unreachable': 'port-unreach',
  unreachable: 'dest-unreach',
};

/** Ports of a reason that have no element of their own. */
function extraReason({ protocol, state, reason, count, ports }: PortReason, silent: number): string {
  const left = count - ports.length - (state === 'open|filtered' ? silent : 0);
  const facts = { reason: nmapReasons[reason] ?? reason, count: String(left), proto: protocol };
  return left <= 0 ? '' : `<extrareasons${attributes(facts)}/>`;
}

/** Ports about which an ICMP error came: only the element of a port says who sent it. */
function rejectedPorts({ protocol, state, reason, from, ports }: PortReason): string[] {
  const facts = { state, reason: nmapReasons[reason] ?? reason, reason_ttl: '0', reason_ip: from };
  return ports.map(
    (port) =>
      `\n<port${attributes({ protocol, portid: String(port) })}><state${attributes(facts)}/>` +
      `${usualService(serviceNameOf(port, protocol))}</port>`,
  );
}

function portStart(row: PortRow): string {
  const place = { protocol: row.protocol, portid: String(row.port) };
  const state = { state: row.state, reason: row.reason, reason_ttl: '0' };
  return `\n<port${attributes(place)}><state${attributes(state)}/>${service(row)}`;
}

/** Service names that have another name inside TLS. */
const wrapped: Record<string, string> = {
  https: 'http',
  imaps: 'imap',
  pop3s: 'pop3',
  smtps: 'smtp',
  ftps: 'ftp',
  ldaps: 'ldap',
  ircs: 'irc',
  sips: 'sip',
};

function service({ service: found, tls, port, protocol }: PortRow): string {
  if (!found) return usualService(serviceNameOf(port, protocol));
  const inner = Object.hasOwn(wrapped, found.name) ? wrapped[found.name] : undefined;
  const facts = {
    name: inner ?? found.name,
    product: found.product,
    version: found.version,
    tunnel: inner !== undefined || tls ? 'ssl' : null,
    method: 'probed',
    conf: String(Math.round(Math.min(1, Math.max(0, found.confidence)) * 10)),
  };
  const cpe = found.cpe === null ? null : cpeUri(found.cpe);
  return cpe === null
    ? `<service${attributes(facts)}/>`
    : `<service${attributes(facts)}><cpe>${escaped(cpe)}</cpe></service>`;
}

/** Confidence of nmap for names that only the port suggests. */
const tableConfidence = '3';

function usualService(name: string | null): string {
  return name === null ? '' : `<service${attributes({ name, method: 'table', conf: tableConfidence })}/>`;
}

const tarpitScript: NmapScript = {
  id: 'all-ports-open',
  output: 'This host accepts nearly every connection; open ports alone are not evidence of services.',
  facts: [],
};

/**
 * What is known of one place in one element, by part: ndiff stops at the second script of a port or host
 * (nmap issue 2930).
 */
function scriptElement(scripts: readonly NmapScript[]): string {
  if (scripts.length === 0) return '';
  const output = scripts.map(({ id, output }) => `${id}:${indented(output)}`).join('\n');
  const content = tableContent(
    scripts.map(({ id, output, facts }) => [id, facts.length === 0 ? output : facts]),
  );
  return `<script${attributes({ id: generator.name.toLowerCase(), output })}>${content}</script>`;
}

/** A text of one line stands beside its ID, one of several below it. */
function indented(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n  ${line.trimStart()}`).join('');
}

function tableContent(table: ScriptTable): string {
  return table.map(([key, value]) => tableEntry(key === '' ? null : key, value)).join('');
}

function tableEntry(key: string | null, value: ScriptTable[number][1]): string {
  if (value === null) return '';
  if (typeof value === 'string') return `<elem${attributes({ key })}>${escaped(value)}</elem>`;
  return `<table${attributes({ key })}>${tableContent(value)}</table>`;
}

function findingScript(finding: Finding): NmapScript {
  const { id, title, severity, cvss, kev, epss, confidence, evidence, remediation } = finding;
  const output = [
    `${countsAs(finding).toUpperCase()}, ${finding.class}: ${title}`,
    finding.backport_note,
    evidence && `Evidence: ${evidence}`,
    remediation && `Remediation: ${remediation}`,
    ...finding.references,
  ];
  const facts: ScriptTable = [
    ['severity', severity],
    ['title', title],
    ['cvss', cvss && String(cvss.score)],
    ['cvss_vector', cvss?.vector ?? null],
    ['kev', String(kev)],
    ['epss', epss && String(epss.score)],
    ['cpe', finding.cpe],
    ['affected', finding.affected],
    ['detected', finding.detected],
    ['confidence', String(confidence)],
    ['class', finding.class ?? null],
    ['backport_note', finding.backport_note],
  ];
  return { id, output: output.filter(Boolean).join('\n'), facts };
}

function attributes(facts: Record<string, string | null | undefined>): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * Text for an attribute or an element. XML 1.0 has no form at all for most control characters: they are made visible;
 * LF and TAB are written as references, which a parser does not turn into blanks.
 */
function escaped(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part) => (part === '\n' ? '&#10;' : part === '\t' ? '&#9;' : escapedLine(part)))
    .join('');
}

function escapedLine(text: string): string {
  return visibleText(text)
    .replace(/[\ufffe\uffff]/g, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`)
    .replace(/[&<>"']/g, (character) => entities[character] as string);
}

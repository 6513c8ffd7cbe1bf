import { type FindingClass, findingClasses, noFindings } from '../../domain/finding.ts';
import { filteredReasons, listedPorts, listedText } from '../../domain/port-reason-texts.ts';
import { producersOf, producerText } from '../../domain/producer.ts';
import {
  countsByProtocol,
  type HostRow,
  isOpen,
  type PortRow,
  type ResultRow,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import { siteTexts } from '../../domain/text/site-text.ts';
import { completeRow } from '../../workspace/record/row-line.ts';
import { detachedStart, oneLine, shortenedText } from './bounded.ts';
import { remedyOf } from './findings/actions.ts';
import { inReportOrder } from './findings/kinds.ts';
import { kindKey, readFinding, type SeenFinding } from './findings/seen-finding.ts';
import { readRecordedCertificate } from './inventory/certificates.ts';
import { missingOf, portSums } from './inventory/coverage.ts';
import { systemName } from './inventory/system-name.ts';
import type { FindingKind, HostBlock, HostFindingLine, PortLine, Report } from './report.ts';
import { dateText, hostAnchor, listText, portAnchor, portText } from './report-text.ts';

/** Ports of one host in a report. */
const maxPorts = 1000;
/** Lines of findings of one host in a report. */
const maxFindings = 1000;
/** Ports that a line of a finding names. */
const maxFindingPorts = 50;
/** Names of one host. */
const maxNames = 20;
/** Longest banner in a report, characters. */
const maxBannerLength = 4000;
/** Longest other text of a host in a report, characters. */
const maxTextLength = 300;
/** Further sites of a port that are listed; more are counted. */
const maxSites = 16;

/** The hosts of a report, one by one, in the order of their rows. */
export async function* hostBlocks(report: Report, rows: AsyncIterable<ResultRow>): AsyncGenerator<HostBlock> {
  const known: KnownParts = {
    kinds: new Map(report.kinds.map((kind) => [kindKey(kind), kind])),
    ranks: new Map(report.actions.map(({ key, rank }) => [key, rank])),
  };
  let host: OpenHost | null = null;
  let position = 0;
  for await (const row of rows) {
    if (row.type !== 'host' && row.type !== 'port' && row.type !== 'vulnerability') continue;
    if (host?.host !== row.host) {
      if (host) yield host.finish();
      host = new OpenHost(row.host, position++, known);
    }
    host.add(row);
  }
  if (host) yield host.finish();
}

/** Parts of the report that hosts refer to. */
interface KnownParts {
  kinds: ReadonlyMap<string, FindingKind>;
  /** Of actions, by key. */
  ranks: ReadonlyMap<string, number>;
}

/** The host whose rows are being read. */
class OpenHost {
  readonly host: string;
  readonly #known: KnownParts;
  readonly #block: HostBlock;
  /** By kind and class. */
  readonly #findings = new Map<string, HostFindingLine>();

  constructor(host: string, position: number, known: KnownParts) {
    this.host = host;
    this.#known = known;
    this.#block = emptyBlock(host, position);
  }

  add(row: HostRow | PortRow | VulnerabilityRow): void {
    if (row.type === 'host') addHostFacts(this.#block, completeRow(row));
    else if (row.type === 'port') this.#addPort(completeRow(row));
    else this.#addFinding(row);
  }

  #addPort(row: PortRow): void {
    const block = this.#block;
    if (isOpen(row)) block.openPorts += 1;
    if (block.ports.length >= maxPorts) block.portsLeft += 1;
    else block.ports.push(portLine(row));
  }

  #addFinding(row: VulnerabilityRow): void {
    const block = this.#block;
    const finding = readFinding(row, null);
    block.severities[finding.severity] += 1;
    block.exploited ||= finding.exploited;
    const kind = this.#known.kinds.get(kindKey(finding));
    const key = `${finding.class} ${kindKey(finding)}`;
    const known = this.#findings.get(key);
    const port = portText(finding.port, finding.protocol);
    if (known) {
      if (known.ports.length < maxFindingPorts && !known.ports.includes(port)) known.ports.push(port);
    } else if (kind && this.#findings.size < maxFindings)
      this.#findings.set(key, {
        kind,
        action: this.#rankOf(finding, kind),
        ports: [port],
        class: finding.class,
      });
    else block.findingsLeft += 1;
  }

  #rankOf(finding: SeenFinding, kind: FindingKind): number {
    return this.#known.ranks.get(remedyOf(finding).key) ?? kind.action;
  }

  finish(): HostBlock {
    const findings = [...this.#findings.values()].sort(inFixOrder);
    return { ...this.#block, findings };
  }
}

function inFixOrder(a: HostFindingLine, b: HostFindingLine): number {
  return a.action - b.action || inReportOrder(a.kind, b.kind) || classRank(a.class) - classRank(b.class);
}

function classRank(name: FindingClass): number {
  return findingClasses.indexOf(name);
}

function emptyBlock(host: string, position: number): HostBlock {
  return {
    anchor: hostAnchor(host),
    host,
    names: [],
    system: null,
    systemConfidence: null,
    kind: null,
    mac: null,
    vendor: null,
    method: null,
    latencyMs: null,
    ports: [],
    portsLeft: 0,
    openPorts: 0,
    counts: null,
    filteredWhy: '',
    notOpen: '',
    allPortsOpen: false,
    findings: [],
    findingsLeft: 0,
    severities: noFindings(),
    exploited: false,
    position,
  };
}

function addHostFacts(block: HostBlock, row: HostRow): void {
  const { tcp, udp } = countsByProtocol(row);
  block.names = (row.hostnames ?? []).slice(0, maxNames).map((name) => oneLine(String(name), maxTextLength));
  block.system = row.os ? oneLine(systemName(row.os), maxTextLength) : null;
  block.systemConfidence = row.os?.confidence ?? null;
  block.kind =
    row.device_type && row.device_type !== 'unknown'
      ? oneLine(row.device_type.replaceAll('_', ' '), maxTextLength)
      : null;
  block.mac = optionalLine(row.mac);
  block.vendor = optionalLine(row.vendor);
  block.method = optionalLine(row.method);
  block.latencyMs = typeof row.latency_ms === 'number' ? row.latency_ms : null;
  block.counts = portSums(tcp, udp)?.all ?? null;
  block.notOpen = oneLine(listedText(listedPorts(row)), maxTextLength);
  block.filteredWhy = block.notOpen === '' ? oneLine(filteredReasons(row), maxTextLength) : '';
  block.allPortsOpen = row.all_ports_open === true;
}

function optionalLine(text: string | null | undefined): string | null {
  return text ? oneLine(String(text), maxTextLength) : null;
}

function portLine(row: PortRow): PortLine {
  const { host, port, protocol, state, service } = row;
  const said = String(row.banner ?? '').trimEnd();
  return {
    anchor: portAnchor(host, port, protocol),
    port,
    protocol,
    state: oneLine(state, maxTextLength),
    service: optionalLine(service?.name),
    product: optionalLine([service?.product, service?.version].filter(Boolean).join(' ')),
    confidence: service ? (service.confidence ?? null) : null,
    cpe: optionalLine(service?.cpe),
    said: detachedStart(said, maxBannerLength),
    saidLength: said.length,
    tls: tlsText(row),
    sites: sitesText(row),
    missing: missingOf(row)?.missing ?? '',
    plugins: shortenedText(producersOf(row).map(producerText).join(', '), maxTextLength),
  };
}

/** `Sites: v2.example "Shop"; v3.example 404 Not Found`; empty without further names. */
function sitesText(row: PortRow): string {
  const texts = siteTexts(row);
  const left = texts.length - maxSites;
  const shown = texts.slice(0, maxSites).map((text) => oneLine(text, maxTextLength));
  if (left > 0) shown.push(`${left} more`);
  return shown.length === 0 ? '' : `Sites: ${shown.join('; ')}`;
}

/** `TLS 1.2 and 1.3, certificate CN=web-1 by CN=Example CA, until Mar 4, 2027`; empty without TLS. */
function tlsText(row: PortRow): string {
  const { tls } = row;
  if (typeof tls !== 'object' || tls === null) return '';
  const certificate = readRecordedCertificate(row);
  const parts = [
    versionsText(tls),
    ...(tls['client_certificate'] ? [`client certificate ${tls['client_certificate']}`] : []),
    ...(certificate
      ? [
          `certificate ${certificate.subject || 'without a name'} ${certificate.selfSigned ? 'self-signed' : `by ${certificate.issuer}`}`,
          `until ${dateText(certificate.until)}`,
        ]
      : []),
    ...(typeof tls['error'] === 'string' ? [tls['error']] : []),
  ];
  return oneLine(parts.filter((part) => part !== '').join(', '), 2 * maxTextLength);
}

/** `TLSv1.2` and `TLSv1.3` as `TLS 1.2 and 1.3`. */
function versionsText({ versions, version }: Record<string, unknown>): string {
  const listed = Array.isArray(versions) && versions.length > 0 ? versions : [version];
  const names = listed
    .filter((name) => typeof name === 'string')
    .map((name) => name.replace(/^TLSv/, 'TLS '));
  return listText(names.map((name, index) => (index > 0 ? name.replace(/^TLS /, '') : name)));
}

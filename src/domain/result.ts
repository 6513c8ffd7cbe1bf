import { createHash } from 'node:crypto';
import type { DeviceEvidence, HostIdentity, OperatingSystem, SystemEvidence } from './asset.ts';
import type { Finding, Severity, SeverityCounts } from './finding.ts';
import { type PortCoverage, type Protocol, zeroWindow } from './host.ts';
import type { PortReason } from './port-reasons.ts';
import type { Produced } from './producer.ts';
import type { Fingerprint } from './service.ts';
import type { UnidentifiedReason } from './text/banner.ts';

/**
 * One line of the record (JSON Lines). The identity of a row is its type plus host (host), host/port/protocol
 * (port), id/host/port/protocol (vulnerability), host/port/framework/control (compliance), target/code/node (error),
 * key/host/port/protocol/value (extra). A row may be written again, richer: readers merge rows of one identity field by
 * field (`mergeRows`).
 */
export type ResultRow =
  | HostRow
  | PortRow
  | VulnerabilityRow
  | ComplianceRow
  | ExtraRow
  | ErrorRow
  | SummaryRow;

export type HostPortCounts = PortCoverage;

/** Port counts of one host by protocol. */
export interface CountsByProtocol {
  tcp: HostPortCounts | undefined;
  udp: HostPortCounts | undefined;
}

/** The port counts of a host row by protocol. */
export function countsByProtocol({ port_counts: all, udp_port_counts: udp }: HostRow): CountsByProtocol {
  if (!all || !udp) return { tcp: all ?? undefined, udp: udp ?? undefined };
  const tcp = addCounts(all, udp, -1);
  return { tcp: Object.values(tcp).some((count) => count > 0) ? tcp : undefined, udp };
}

/** The sum of two port counts, or with the sign -1 their difference. */
export function addCounts(
  a: HostPortCounts = noPorts,
  b: HostPortCounts = noPorts,
  sign = 1,
): HostPortCounts {
  return {
    open: a.open + sign * b.open,
    closed: a.closed + sign * b.closed,
    filtered: a.filtered + sign * b.filtered,
    not_tried: a.not_tried + sign * b.not_tried,
  };
}

const noPorts: HostPortCounts = { open: 0, closed: 0, filtered: 0, not_tried: 0 };

interface RowBase {
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
}

export interface HostRow extends RowBase, Produced {
  type: 'host';
  host: string;
  state: 'up';
  hostnames?: string[];
  latency_ms?: number | null;
  mac?: string | null;
  vendor?: string | null;
  method?: string;
  os?: OperatingSystem | null;
  /** Evidence for and against the system. */
  os_evidence?: SystemEvidence[];
  device_type?: string | null;
  device_evidence?: DeviceEvidence[];
  /** Identity that survives a change of address. */
  identity?: HostIdentity[];
  applications?: { name: string; version: string | null; role: string }[];
  functions?: string[];
  /** Over all protocols. */
  port_counts?: HostPortCounts;
  /** The UDP part, if UDP ports were planned. */
  udp_port_counts?: HostPortCounts;
  /** Why ports are not open. */
  port_reasons?: PortReason[];
  all_ports_open?: boolean;
}

export interface ServiceSummary {
  name: string;
  product: string | null;
  vendor: string | null;
  version: string | null;
  cpe: string | null;
  confidence: number;
}

export interface PortRow extends RowBase, Produced {
  type: 'port';
  host: string;
  port: number;
  protocol: Protocol;
  state: string;
  reason: string;
  service?: ServiceSummary | null;
  banner?: string | null;
  banner_b64?: string | null;
  truncated?: boolean;
  partial?: boolean;
  tls?: Record<string, unknown> | null;
  fingerprints?: Omit<Fingerprint, 'host' | 'port' | 'protocol' | 'alternatives'>[];
  attributes?: Record<string, unknown>;
  /** Product and version may be missing, or there may be no service at all. Null clears an earlier reason. */
  unidentified_reason?: UnidentifiedReason | null;
}

export interface VulnerabilityRow extends RowBase, Produced {
  type: 'vulnerability';
  host: string;
  port: number | null;
  protocol: Protocol | null;
  vulnerability: Finding;
}

/** Result of one control of a framework. */
export interface ComplianceRow extends RowBase, Produced {
  type: 'compliance';
  /** Null = the same for every host. */
  host: string | null;
  port: number | null;
  framework: string;
  control: string;
  title: string;
  status: 'fail' | 'pass' | 'not_assessed';
  /** What fails it, or why it passed or was not assessed. */
  description: string;
  /** Only of a failed control. */
  severity: Severity | null;
  finding_ids: string[];
}

/** An item of a key without a row type of its own. */
export interface ExtraRow extends RowBase, Produced {
  type: 'extra';
  /** The address in the item, if it names one. */
  host: string | null;
  key: string;
  port?: number;
  protocol?: Protocol;
  value: unknown;
}

export interface ErrorRow extends RowBase {
  type: 'error';
  host: null;
  target: string | null;
  code: string;
  message: string;
  node: string | null;
}

/** By reason; those beyond lack of time only where there are such ports. */
export type UnidentifiedCounts = Record<'timeout' | 'rate' | 'cut', number> &
  Partial<Record<UnidentifiedReason, number>>;

/** The last line of a finished record. */
export interface SummaryRow extends RowBase {
  type: 'summary';
  host: null;
  scan_id: string;
  status: string;
  partial: boolean;
  live_hosts: number;
  open_ports: number;
  vulnerabilities: number;
  addresses_scanned: number;
  excluded: number;
  severity_counts: SeverityCounts;
  duration_seconds: number;
  catalogue_version: string;
  /** Rows were lost before the record was finished; absent otherwise. */
  damaged?: boolean | undefined;
  /** Ports without an identified service for a reason; absent in records of older versions and before the end. */
  unidentified?: UnidentifiedCounts | undefined;
  /** Ports that were looked for on each host, as ranges: `22,80-443`; absent before the end and in older records. */
  ports?: Partial<Record<Protocol, string>> | undefined;
  /** All planned pairs of host and port by outcome; absent if no scanner counts them. */
  coverage?: (PortCoverage & { planned: number }) | undefined;
}

/** Whether a port responded: `open|filtered` is silence, which coverage counts as filtered. */
export function isOpen({ state }: Pick<PortRow, 'state'>): boolean {
  return (state ?? 'open') === 'open';
}

/** State of a port known only from its response: it accepted a connection, or sent a datagram. */
export function respondingPort({ protocol }: Pick<PortRow, 'protocol'>): Pick<PortRow, 'state' | 'reason'> {
  return { state: 'open', reason: protocol === 'udp' ? 'udp-response' : 'syn-ack' };
}

/**
 * Why the service of a port is not identified, or not proven to exist; null if nothing is in doubt.
 * @param isTarpit its host accepts (nearly) every port
 */
export function doubtOf(
  { unidentified_reason, protocol, reason, service, banner, tls }: PortRow,
  isTarpit = false,
): UnidentifiedReason | null {
  if (unidentified_reason) return unidentified_reason;
  const hasSign = Boolean(service) || Boolean(banner) || Boolean(tls);
  const isDoubtful = isTarpit ? protocol === 'tcp' : reason === zeroWindow;
  return isDoubtful && !hasSign ? 'unproven' : null;
}

/** Identity of a row: equal for two rows exactly when they describe the same thing. */
export function rowIdentity(row: ResultRow): string {
  switch (row.type) {
    case 'host':
      return `h ${row.host}`;
    case 'port':
      return `p ${row.host} ${row.port} ${row.protocol}`;
    case 'vulnerability':
      return `v ${row.host} ${row.port ?? ''} ${row.protocol ?? ''} ${row.vulnerability.id}`;
    case 'compliance':
      return `c ${row.host ?? ''} ${row.port ?? ''} ${row.framework} ${row.control}`;
    case 'extra':
      return `x ${row.key} ${row.host ?? ''} ${row.port ?? ''} ${row.protocol ?? ''} ${digestOf(row.value)}`;
    case 'error':
      return `e ${row.target ?? ''} ${row.code} ${row.node ?? ''}`;
    case 'summary':
      return 's';
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64');
}

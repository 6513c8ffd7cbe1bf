import { capitalized, type FindingClass, type Severity } from '../../format/words.ts';

export type SeverityCounts = Record<Severity, number>;

/** Records as the API sends them, see docs/api.md: only what pages show. Every text is the target's. */
export interface HostRow {
  type: 'host';
  timestamp: string;
  host: string;
  hostnames?: string[];
  state: string;
  latency_ms?: number | null;
  mac?: string | null;
  vendor?: string | null;
  os?: {
    family?: string | null;
    distribution?: string | null;
    version?: string | null;
    confidence?: number;
  } | null;
  os_evidence?: { weight: number; source: string; evidence: string }[];
  device_type?: string | null;
  device_evidence?: { device_type: string; weight: number; source: string; evidence: string }[];
  port_counts?: { open: number; closed: number; filtered: number; not_tried: number };
  port_reasons?: PortReason[];
}

/** Why ports are not open. */
export interface PortReason {
  protocol: string;
  state: string;
  reason: string;
  from?: string;
  count: number;
  /** Those that are known by number. */
  ports: number[];
}

export interface Service {
  name?: string | null;
  product?: string | null;
  vendor?: string | null;
  version?: string | null;
  cpe?: string | null;
  confidence?: number | null;
}

export interface PortRow {
  type: 'port';
  timestamp: string;
  host: string;
  port: number;
  protocol: string;
  state: string;
  reason?: string;
  service?: Service | null;
  banner?: string | null;
  banner_b64?: string | null;
  truncated?: boolean;
  tls?: Record<string, unknown> | null;
  attributes?: Record<string, unknown>;
  unidentified_reason?: string;
}

export interface FindingDetail {
  id: string;
  title: string;
  severity: Severity;
  class?: FindingClass;
  cvss?: { version: string; score: number; vector: string } | null;
  kev?: boolean;
  epss?: { score: number; percentile: number } | null;
  cpe?: string | null;
  affected?: string | null;
  affected_from?: string | null;
  fixed_in?: string | null;
  detected?: string | null;
  confidence?: number;
  backport_note?: string | null;
  evidence?: string | null;
  remediation?: string | null;
  references?: string[];
  plugin?: string;
  action?: { key: string; text: string; update?: unknown };
}

export interface VulnerabilityRow {
  type: 'vulnerability';
  timestamp: string;
  host: string;
  port: number | null;
  protocol: string | null;
  vulnerability: FindingDetail;
}

/** `Debian 12`; null for one that is not known. */
export function systemOf({ os }: Pick<HostRow, 'os'>): string | null {
  const name = os?.distribution ?? os?.family;
  return name ? `${capitalized(name)}${os?.version ? ` ${os.version}` : ''}` : null;
}

/** `load balancer`; null for a device that is not known. */
export function kindOf({ device_type: device }: Pick<HostRow, 'device_type'>): string | null {
  return device && device !== 'unknown' ? device.replaceAll('_', ' ') : null;
}

/** `443/tcp`; `host` for a finding of the host itself. */
export function portText({ port, protocol }: { port: number | null; protocol: string | null }): string {
  return port === null ? 'host' : `${port}/${protocol ?? 'tcp'}`;
}

/** Names a finding in the URL. */
export function findingKey(
  row: Pick<VulnerabilityRow, 'host' | 'port' | 'protocol'> & { vulnerability: Pick<FindingDetail, 'id'> },
): string {
  return `finding ${row.host} ${portText(row)} ${row.vulnerability.id}`;
}

/** The one order of findings. */
export const worstFirst = '-worst';

/** The first bytes that a service sent, as they were. */
export function bannerBytes({ banner, banner_b64 }: Pick<PortRow, 'banner' | 'banner_b64'>): Uint8Array {
  if (typeof banner_b64 === 'string') return Uint8Array.from(atob(banner_b64), (char) => char.charCodeAt(0));
  return new TextEncoder().encode(banner ?? '');
}

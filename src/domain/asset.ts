/** Everything known about a host (key `asset_profiles`, identity: host). */
export interface AssetProfile {
  host: string;
  /** Names from the host itself or its certificates. */
  hostnames: string[];
  mac?: string | undefined;
  applications: { name: string; version: string | null; role: string }[];
  functions: string[];
  open_ports: number;
  all_ports_open?: boolean | undefined;
  /** Identity that survives a change of address. */
  identity?: HostIdentity[] | undefined;
  /** Null = evaluated, but nothing is certain enough. */
  os?: OperatingSystem | null | undefined;
  os_evidence?: SystemEvidence[] | undefined;
  device_type?: DeviceType | undefined;
  device_evidence?: DeviceEvidence[] | undefined;
}

/** Contribution of one module; the parts of a host are merged into its profile. */
export type ProfilePart = Pick<AssetProfile, 'host'> & Partial<AssetProfile>;

/** An identifier that survives a change of address; hosts that share all of theirs may be one host. */
export interface HostIdentity {
  kind: 'mac' | 'ssh_host_key' | 'tls_key' | 'name';
  /** The address, type and SHA-256 of the key, SHA-256 of the key, or the name. */
  value: string;
}

export interface OperatingSystem {
  /** `linux`, `windows`, `freebsd`, `cisco ios`, ... */
  family: string;
  distribution: string | null;
  version: string | null;
  /** 0..1 */
  confidence: number;
}

/** A system as one text, without repetitions: `linux debian 12`, `windows server 2022`. */
export function systemText({ family, distribution, version }: Omit<OperatingSystem, 'confidence'>): string {
  const named = distribution !== null && distribution.startsWith(family) ? distribution : null;
  const parts = named === null ? [family, distribution, version] : [named, version];
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

/** Kind and system of a host as one text, as far as known: `printer`, `server, linux debian 12`. */
export function kindText(host: { device_type?: string | null; os?: OperatingSystem | null }): string {
  const device = host.device_type === 'unknown' ? null : host.device_type;
  return [device, host.os && systemText(host.os)].filter(Boolean).join(', ');
}

/** One piece of evidence for a system; evidence against the verdict is included. */
export interface SystemEvidence extends Omit<OperatingSystem, 'confidence'> {
  weight: number;
  /** `22/tcp`, or `network` for evidence below the ports. */
  source: string;
  evidence: string;
  rule: string;
}

export const deviceTypes = [
  'server',
  'workstation',
  'router',
  'switch',
  'firewall',
  'load_balancer',
  'printer',
  'camera',
  'phone',
  'nas',
  'hypervisor',
  'iot',
  'unknown',
] as const;
export type DeviceType = (typeof deviceTypes)[number];

/** One piece of evidence for a device type. */
export interface DeviceEvidence {
  device_type: DeviceType;
  weight: number;
  source: string;
  evidence: string;
  rule: string;
}

/** What a host is, put together from everything that is known of it (key `asset_profiles`, identity: host). */
export interface AssetProfile {
  host: string;
  /** Names that the host gives itself or that its certificates carry. */
  hostnames: string[];
  mac?: string | undefined;
  applications: { name: string; version: string | null; role: string }[];
  functions: string[];
  open_ports: number;
  all_ports_open?: boolean | undefined;
  /** What stays with the host when its address changes. */
  identity?: HostIdentity[] | undefined;
  /** Null = looked at, and nothing is certain enough. */
  os?: OperatingSystem | null | undefined;
  os_evidence?: SystemEvidence[] | undefined;
  device_type?: DeviceType | undefined;
  device_evidence?: DeviceEvidence[] | undefined;
}

/** What one module says of a host; parts of one host make up its profile. */
export type ProfilePart = Pick<AssetProfile, 'host'> & Partial<AssetProfile>;

/** A mark that a host takes along to another address; hosts that share all of theirs may be one host. */
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

/** A system in one text: `linux debian 12`, `windows server 2022`. What is said twice is said once. */
export function systemText({ family, distribution, version }: Omit<OperatingSystem, 'confidence'>): string {
  const named = distribution !== null && distribution.startsWith(family) ? distribution : null;
  const parts = named === null ? [family, distribution, version] : [named, version];
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

/** Kind and system of a host in one text, as far as they are known: `printer`, `server, linux debian 12`. */
export function kindText(host: { device_type?: string | null; os?: OperatingSystem | null }): string {
  const device = host.device_type === 'unknown' ? null : host.device_type;
  return [device, host.os && systemText(host.os)].filter(Boolean).join(', ');
}

/** One thing that speaks for a system; what speaks against the verdict is kept as well. */
export interface SystemEvidence extends Omit<OperatingSystem, 'confidence'> {
  weight: number;
  /** `22/tcp`, or `network` for what lies below the ports. */
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

/** One thing that speaks for a kind of device. */
export interface DeviceEvidence {
  device_type: DeviceType;
  weight: number;
  source: string;
  evidence: string;
  rule: string;
}

/** What a host is, put together from its services (key `asset_profiles`, identity: host). */
export interface AssetProfile {
  host: string;
  hostnames: string[];
  mac?: string | undefined;
  device_type: string;
  os: { family: string; distribution: string | null; version: string | null; confidence: number } | null;
  applications: { name: string; version: string | null; role: string }[];
  functions: string[];
  open_ports: number;
  all_ports_open?: boolean | undefined;
}

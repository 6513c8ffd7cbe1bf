/** Types of script plugins for Portolan. Only for the editor and the compiler: nothing of this file is loaded. */

/** What a script exports as `Plugin`: an object, or a class. */
export interface ScriptPlugin {
  /** Name of the module; letters, digits and underscores. */
  name: string;
  type?: 'discovery' | 'scanner' | 'parser' | 'fingerprint' | 'profiler' | 'evaluation';
  version: string;
  /** Where it belongs: then it runs in the builtin profiles once it is installed. Written as a plain text. */
  stage?: 'discovery' | 'scanner' | 'parser' | 'fingerprint' | 'profiler' | 'evaluation';
  description: string;
  configSchema?: Record<string, OptionSchema>;
  /** Keys; `a|b` = at least one of them. */
  requires?: string[];
  provides?: string[];
  /** Once per scan. */
  initialize?(): Promise<void> | void;
  /** Once per node. */
  configure?(options: Record<string, unknown>): Promise<void> | void;
  /** An error that it throws fails the node. */
  execute(context: PluginContext, data: DataContext): Promise<void>;
  /** At the end of the scan. */
  cleanup?(): Promise<void> | void;
}

export interface OptionSchema {
  Type: 'int' | 'string' | 'duration' | 'bool';
  Description: string;
  Default?: unknown;
  Required?: boolean;
  Min?: number;
  Max?: number;
  Enum?: (string | number)[];
}

export interface PluginContext {
  /** Aborts when the node must end. */
  readonly signal: AbortSignal;
  /** By `performance.now()`, milliseconds; null = no deadline. */
  readonly deadline: number | null;
  readonly instanceId: string;
  readonly scanId: string;
  /** Options of the node, with their defaults; durations in milliseconds. */
  readonly options: Record<string, unknown>;
  /** Needs `permissions: [network]` in the manifest. */
  readonly net: PluginNetwork;
  readonly log: {
    debug(message: unknown, details?: object): void;
    info(message: unknown, details?: object): void;
    warn(message: unknown, details?: object): void;
    error(message: unknown, details?: object): void;
  };
  progress(done: number, total?: number): void;
  /** A warning in the result. */
  warn(code: string, message: string, target?: string): void;
}

export interface DataContext {
  has(key: string): boolean;
  keys(): string[];
  /** Waits for the complete value. */
  get(key: string): Promise<unknown>;
  /** Items as they arrive. */
  stream<T>(key: string): AsyncIterable<T>;
  /** Publishes items; await it. */
  append<T>(key: string, ...items: T[]): Promise<void>;
  /** Publishes one value and ends the key. */
  set(key: string, value: unknown): Promise<void>;
}

/** Addresses of the scan only, no names. */
export interface PluginNetwork {
  connect(
    host: string,
    port: number,
    limits?: { deadlineMs?: number; connectMs?: number },
  ): Promise<{ connection: PluginConnection } | { failure: object }>;
  /** @returns null if nothing came back */
  askUdp(
    host: string,
    port: number,
    request: Uint8Array,
    limits?: { timeoutMs?: number; retries?: number },
  ): Promise<Uint8Array | null>;
}

export interface PluginConnection {
  readonly latencyMs: number;
  /** @param last nothing follows @returns false if the connection is closed */
  write(data: string | Uint8Array, last?: boolean): Promise<boolean>;
  /** Until `until`, `length` bytes, `idleMs` of silence or the end. */
  read(options?: {
    idleMs?: number;
    length?: number;
    until?: string | Uint8Array;
  }): Promise<{ bytes: Uint8Array; end: string }>;
  startTls(options?: { serverName?: string | null; alpn?: string[] }): Promise<unknown>;
  close(): void;
}

// Items of the standard keys: begin
/** Of the key `targets`. */
export interface Target {
  value: string;
  kind: 'ip' | 'cidr' | 'range' | 'hostname';
  ip?: string | undefined;
}

/** Of the key `discovered_hosts`. */
export interface DiscoveredHost {
  ip: string;
  hostname?: string | undefined;
  latency_ms?: number | null | undefined;
  mac?: string | undefined;
  vendor?: string | undefined;
  method: string;
}

/** Of the key `open_ports`. */
export interface OpenPort {
  host: string;
  port: number;
  protocol?: 'tcp' | 'udp' | undefined;
  state?: 'open' | 'open|filtered' | undefined;
  reason?: string | undefined;
}

/** Of the key `port_counts`. */
export interface PortCounts {
  host: string;
  protocol?: 'tcp' | 'udp' | undefined;
  open: number;
  closed: number;
  filtered: number;
  not_tried?: number | undefined;
  all_ports_open?: boolean | undefined;
}

/** Of the key `banners`. */
export interface Banner {
  host: string;
  port: number;
  protocol?: 'tcp' | 'udp' | undefined;
  banner: string;
  banner_b64?: string | undefined;
  probe: string;
  truncated?: boolean | undefined;
  partial?: boolean | undefined;
  tls?: {
    version: string;
    cipher: string;
    alpn?: string | null | undefined;
    chain?: string[] | undefined;
    client_certificate?: 'requested' | 'required' | undefined;
    error?: string | undefined;
  } | undefined;
  tls_error?: string | undefined;
  exchange?: {
    sent_b64: string;
    received_b64: string;
  }[] | undefined;
  unidentified_reason?: 'timeout' | 'rate' | 'cut' | 'tarpit' | 'unproven' | 'fragile' | undefined;
}

/** Of the key `parsed_services`. */
export interface ParsedService {
  host: string;
  port: number;
  protocol?: 'tcp' | 'udp' | undefined;
  service: string;
  parser: string;
  attributes?: Record<string, unknown> | undefined;
  truncated?: boolean | undefined;
}

/** Of the key `service_fingerprints`. */
export interface ServiceFingerprint {
  host: string;
  port: number;
  protocol?: 'tcp' | 'udp' | undefined;
  match: string;
  product?: string | null | undefined;
  vendor?: string | null | undefined;
  version?: string | null | undefined;
  cpe?: string | null | undefined;
  confidence?: number | undefined;
  source: string;
  evidence?: string | undefined;
  rule?: string | undefined;
  revision?: string | undefined;
  os?: {
    family: string;
    distribution?: string | null | undefined;
    version?: string | null | undefined;
  } | undefined;
  hardware?: {
    type?: string | null | undefined;
    vendor?: string | null | undefined;
    product?: string | null | undefined;
  } | undefined;
  alternatives?: {
    match: string;
    product?: string | null | undefined;
    vendor?: string | null | undefined;
    version?: string | null | undefined;
    cpe?: string | null | undefined;
    confidence?: number | undefined;
    source: string;
    evidence?: string | undefined;
    rule?: string | undefined;
    revision?: string | undefined;
    os?: {
      family: string;
      distribution?: string | null | undefined;
      version?: string | null | undefined;
    } | undefined;
    hardware?: {
      type?: string | null | undefined;
      vendor?: string | null | undefined;
      product?: string | null | undefined;
    } | undefined;
  }[] | undefined;
}

/** Of the key `asset_profiles`. */
export interface AssetProfile {
  host: string;
  hostnames?: string[] | undefined;
  mac?: string | undefined;
  applications?: {
    name: string;
    version?: string | null | undefined;
    role?: string | undefined;
  }[] | undefined;
  functions?: string[] | undefined;
  open_ports?: number | undefined;
  all_ports_open?: boolean | undefined;
  identity?: {
    kind: 'mac' | 'ssh_host_key' | 'tls_key' | 'name';
    value: string;
  }[] | undefined;
  os?: {
    family: string;
    distribution?: string | null | undefined;
    version?: string | null | undefined;
    confidence?: number | undefined;
  } | null | undefined;
  os_evidence?: {
    family: string;
    distribution?: string | null | undefined;
    version?: string | null | undefined;
    weight: number;
    source: string;
    evidence: string;
    rule?: string | undefined;
  }[] | undefined;
  device_type?: 'server' | 'workstation' | 'router' | 'switch' | 'firewall' | 'load_balancer' | 'printer' | 'camera' | 'phone' | 'nas' | 'hypervisor' | 'iot' | 'unknown' | undefined;
  device_evidence?: {
    device_type: 'server' | 'workstation' | 'router' | 'switch' | 'firewall' | 'load_balancer' | 'printer' | 'camera' | 'phone' | 'nas' | 'hypervisor' | 'iot' | 'unknown';
    weight: number;
    source: string;
    evidence: string;
    rule?: string | undefined;
  }[] | undefined;
}

/** Of the key `vulnerabilities`. */
export interface Vulnerability {
  host: string;
  port?: number | null | undefined;
  protocol?: 'tcp' | 'udp' | null | undefined;
  id: string;
  title: string;
  severity: 'critical' | 'high' | 'medium' | 'low' | 'info';
  cvss?: {
    version?: string | undefined;
    score: number;
    vector?: string | undefined;
  } | null | undefined;
  kev?: boolean | undefined;
  epss?: {
    score: number;
    percentile: number;
  } | null | undefined;
  cpe?: string | null | undefined;
  affected?: string | null | undefined;
  detected?: string | null | undefined;
  confidence?: number | undefined;
  backport_note?: string | null | undefined;
  affected_from?: string | null | undefined;
  fixed_in?: string | null | undefined;
  action?: {
    key?: string | undefined;
    text: string;
    update?: boolean | undefined;
  } | undefined;
  class?: 'certain' | 'likely' | 'possible' | undefined;
  evidence?: string | undefined;
  remediation?: string | undefined;
  references?: string[] | undefined;
  plugin?: string | undefined;
}

/** Of the key `compliance_violations`. */
export interface ComplianceViolation {
  host: string;
  port?: number | null | undefined;
  framework: string;
  control: string;
  title?: string | undefined;
  description?: string | undefined;
  severity?: 'critical' | 'high' | 'medium' | 'low' | 'info' | undefined;
  finding_ids?: string[] | undefined;
}

/** Of the key `compliance_controls`. */
export interface ComplianceControl {
  host?: string | null | undefined;
  framework: string;
  control: string;
  title?: string | undefined;
  status: 'pass' | 'not_assessed';
  reason?: string | undefined;
}
// Items of the standard keys: end

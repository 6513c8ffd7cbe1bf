/** A live host as discovery found it (DataContext key `discovered_hosts`, identity: ip). */
export interface Host {
  ip: string;
  hostname?: string | undefined;
  /** Milliseconds from probe to response; null if not measured or not observed directly. */
  latency_ms: number | null;
  mac?: string | undefined;
  vendor?: string | undefined;
  /** How it was found: `icmp-echo`, `tcp-syn-ack`, `tcp-rst`, ... */
  method: string;
}

export type Protocol = 'tcp' | 'udp';

/** An open port (key `open_ports`, identity: host, port, protocol). */
export interface Port {
  host: string;
  port: number;
  protocol: Protocol;
  state: 'open' | 'open|filtered';
  /** The observation behind the state: `syn-ack`, `udp-response`, `no-response`, ... */
  reason: string;
}

/**
 * Reason of an open port whose SYN/ACK had window 0: no service has seen the SYN, but a device in front of it accepts
 * connections (SYN proxy, tarpit).
 */
export const zeroWindow = 'syn-ack-zero-window';

/**
 * How the sweep of one host ended (key `port_counts`, identity: host, protocol).
 * open + closed + filtered + not_tried equals the number of ports planned for the host.
 */
export interface PortCounts {
  host: string;
  protocol: Protocol;
  open: number;
  closed: number;
  filtered: number;
  not_tried: number;
  /** The host accepts connections on (nearly) every port, so its open ports are no evidence of services. */
  all_ports_open: boolean;
  /** Only after raw packets to a host with an open port. */
  stack?: StackTraits | undefined;
  /** Ports with an ICMP error, and closed ones where few ports were planned; absent = none. */
  rejected?: RejectedPorts[] | undefined;
  /** The planned ports, if each of them is to be named with its reason. */
  ports?: number[] | undefined;
}

/** An error that came back instead of a response. */
export interface ProbeRejection {
  /** `admin-prohibited`, `host-unreachable`, `port-unreachable`, ... */
  reason: string;
  /** ICMP type and code; null if the kernel told only the reason. */
  icmp: { type: number; code: number } | null;
  /** Sender of the ICMP error; null if unknown. */
  from: string | null;
}

/** Ports of a host about which the same error came. */
export interface RejectedPorts extends ProbeRejection {
  state: 'closed' | 'filtered';
  count: number;
  /** The first of them. */
  ports: number[];
}

/** TCP characteristics of the first SYN-ACK. */
export interface StackTraits {
  /** Remaining TTL (IPv4) or hop limit (IPv6). */
  hops: number;
  window: number;
  /** Maximum segment size, bytes; null = not announced. */
  mss: number | null;
  /** Window scale; null = no scaling. */
  scale: number | null;
  /** The first eight options in their order: `mss`, `sack`, `ts`, `nop`, `ws`, `end`, `other`. */
  options: string[];
  /** IPv4 only. */
  dont_fragment: boolean;
  ecn: boolean;
}

/** Outcomes of all planned pairs of host and port, including hosts that are down. */
export interface PortCoverage {
  open: number;
  closed: number;
  /** No response, or unreachable. */
  filtered: number;
  /** Planned, but nothing was sent. */
  not_tried: number;
}

/** A host and port to connect to. */
export interface Endpoint {
  host: string;
  port: number;
  protocol: Protocol;
}

/** A live host as discovery found it (DataContext key `discovered_hosts`, identity: ip). */
export interface Host {
  ip: string;
  hostname?: string | undefined;
  /** Milliseconds from probe to answer; null when that was not measured, or only another host's word is known. */
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
  /** The host accepts (nearly) every port, so its open ports are no evidence of services. */
  all_ports_open: boolean;
  /** Only where raw packets were sent, and a port was open. */
  stack?: StackTraits | undefined;
}

/** How the TCP of a host answered the first SYN that it accepted. */
export interface StackTraits {
  /** What is left of the TTL (IPv4) or hop limit (IPv6). */
  hops: number;
  window: number;
  /** Largest segment, bytes; null = not told. */
  mss: number | null;
  /** Shift of the window; null = no scaling. */
  scale: number | null;
  /** The first eight options in their order: `mss`, `sack`, `ts`, `nop`, `ws`, `end`, `other`. */
  options: string[];
  /** IPv4 only. */
  dont_fragment: boolean;
  ecn: boolean;
}

/** What became of pairs of host and port, also of hosts that are none. */
export interface PortCoverage {
  open: number;
  closed: number;
  /** Silent, or called unreachable. */
  filtered: number;
  /** Planned, and nothing was sent. */
  not_tried: number;
}

/** A place on the network that a connection can be made to. */
export interface Endpoint {
  host: string;
  port: number;
  protocol: Protocol;
}

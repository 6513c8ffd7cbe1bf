import type { ProbeRejection } from '../../domain/host.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import type { Exchange, TlsObservation } from '../../domain/text/banner.ts';
import type { Traffic } from '../../domain/traffic.ts';
import type { EgressChoice } from '../egress.ts';
import type { PingType } from '../packets/frame/echo.ts';
import type { ConnectJob, SweepOutcome, SynJob } from '../tcp/sweep-job.ts';

/**
 * The only way to the network. Everything that a module sends to a target goes through a gate, which enforces the
 * scope, the rate, the byte cap and an absolute deadline at the moment of sending.
 */
export interface NetworkGate {
  /** Every address this scan may probe: targets minus exclusions, inside the scope, names resolved. */
  readonly addresses: AddressSet;

  /** The extremes so far of a rate that adapts to the responses, packets per second; null = it is fixed. */
  readonly reached: { lowest: number; highest: number } | null;

  /** One TCP connection attempt, reset at once: the state of the port and the reason. */
  probeTcp(host: string, port: number, options: ProbeOptions): Promise<PortObservation>;

  /** One TCP connection attempt, kept open for a session. */
  connect(host: string, port: number, options: DialOptions): Promise<DialResult>;

  /** ICMP or ICMPv6 echo, and ICMP timestamps; yields the hosts that responded, and to which request. */
  ping(hosts: AsyncIterable<string> | Iterable<string>, options: PingOptions): AsyncIterable<PingResponse>;

  /**
   * UDP probes to ports of hosts, each host at a rate it can handle; yields their outcomes. `filtered` was reported
   * by an ICMP error; silence is `open|filtered`.
   */
  sweepUdp<T extends UdpTask>(
    tasks: AsyncIterable<T> | Iterable<T>,
    options: UdpSweepOptions,
  ): AsyncIterable<UdpOutcome<T>>;

  /** One request to a UDP port and its response; null = silence, an ICMP error, or nothing may be sent. */
  askUdp(host: string, port: number, request: Uint8Array, options: UdpProbeOptions): Promise<Buffer | null>;

  /** Why raw TCP packets cannot be sent and received here, or null. */
  synObstacle(signal: AbortSignal): Promise<string | null>;

  /** Half-open attempts by raw packets, for the same ports of many hosts. @throws Error if the packet engine fails */
  sweepSyn(job: SynJob): Promise<SweepOutcome[]>;

  /** Why `sweepConnect` is unavailable here (`probeTcp` is not), or null. */
  connectObstacle(signal: AbortSignal): Promise<string | null>;

  /** Full connections that are reset at once, for the same ports of many hosts. @throws Error if a thread fails */
  sweepConnect(job: ConnectJob): Promise<SweepOutcome[]>;

  /** Addresses of this scan on directly attached links, or on the named one: candidates for MAC resolution. */
  neighborhood(interfaceName: string | null): Neighborhood;

  /**
   * ARP and IPv6 Neighbor Discovery (RFC 826, RFC 4861); yields the hosts that responded. Skips addresses that are
   * not on a directly attached link.
   */
  sweepNeighbors(hosts: Iterable<string>, options: NeighborSweepOptions): AsyncIterable<NeighborResponse>;

  /** How echo requests are sent: `raw`, `datagram`, or `none` with the reason. */
  pingMethod(): { method: 'raw' | 'datagram' | 'none'; reason: string };

  /** Whether the rate follows the responses: it starts low, whatever its limit is. */
  readonly hasAdaptiveRate: boolean;

  /** The same gate for one module with its own rate limit, in addition to that of the scan. */
  limitedTo(packetsPerSecond: number): NetworkGate;

  /**
   * The same gate with another way out of this machine: what is empty stays as it was chosen for the scan.
   * @throws PortolanError `invalid_request` for what this machine does not have
   */
  through(chosen: Partial<EgressChoice>): NetworkGate;

  /**
   * Runs work that communicates with a target. A pause of the scan cuts every connection; interrupted work is
   * repeated once the scan resumes. @returns the result of the last attempt
   */
  throughPauses<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;

  /** Packets that this scan sent so far: connection attempts, echo requests and UDP probes. */
  readonly packetsSent: number;

  /** Packets that could not be sent, by reason: no route, link down, no file handle. */
  readonly unsent: ReadonlyMap<string, number>;
}

/** The gate as seen by the runner of the scan. */
export interface ScanGate extends NetworkGate {
  /**
   * Removes addresses for good. Packets already sent are not affected.
   * @returns how many were removed
   */
  narrow(permitted: (addresses: AddressSet) => AddressSet): bigint;

  /** Stops the background work of the gate. */
  close(): Promise<void>;

  /** What this scan sent and received so far. */
  readonly traffic: Traffic;

  /** Hosts that an adaptive rate was slowed for. */
  readonly slowed: ReadonlyMap<string, Slowdown>;

  /** Attempts skipped because they would have reached this server itself. */
  readonly spared: number;
}

/** Packets per second at which the responses of a host stayed away, and the lowest rate to it after that. */
export interface Slowdown {
  shortAt: number;
  lowest: number;
}

export interface ProbeOptions {
  /** Timeout. A SYN is waited for 0.9 s at most, unless the host is known to respond slowly. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Of a sweep: an adaptive rate follows the responses to first attempts, and to further ones where these were silent. */
  attempt?: 'first' | 'further';
  /** Its port is one of those that are tried first: another share of them responds than of the others. */
  isLeading?: boolean;
  /** Also say which ICMP error came, and from where. */
  explains?: boolean;
}

/**
 * `open`: accepted. `closed`: refused. `filtered`: silence or an ICMP error. `not_tried`: nothing was sent, or the
 * local side failed (out of scope, no file handle, canceled), so it says nothing about the target.
 */
export interface PortObservation {
  state: 'open' | 'closed' | 'filtered' | 'not_tried';
  reason: string;
  latencyMs: number;
  /** The ICMP error behind it, if the kernel told it. */
  rejection?: ProbeRejection;
}

export interface DialOptions {
  /**
   * The whole session ends this many milliseconds after the start of the connection attempt, whatever the peer does.
   * Time spent waiting for the rate limit or a free socket does not count.
   */
  deadlineMs: number;
  /** Timeout of the connection attempt; by default until the deadline. */
  connectMs?: number;
  /** Maximum bytes to read; beyond that the connection counts as truncated. */
  maxBytes: number;
  signal: AbortSignal;
  /** Called with the milliseconds spent waiting for the rate limit and for a free socket. */
  onWait?: (ms: number) => void;
}

export type DialResult = { connection: Connection } | { failure: PortObservation };

/** Why reading stopped. */
export type ReadEnd = 'match' | 'idle' | 'closed' | 'reset' | 'cap' | 'deadline';

export interface ReadOptions {
  /** Idle timeout between bytes, milliseconds; a function may change it as bytes arrive. */
  idleMs: number | (() => number);
  /** Idle timeout before the first byte; by default `idleMs`. */
  firstMs?: number;
  /**
   * Checks all bytes of this read whenever more arrive. `true`: the response is complete. A number above 0: the
   * response is complete and has that many bytes; the rest stays for the next read.
   */
  done?: (bytes: Buffer) => boolean | number;
}

export interface TlsOptions {
  /** Name for SNI; null if only the address is known. */
  serverName: string | null;
  /** Protocols to offer, e.g. `http/1.1`; empty = no ALPN. */
  alpn: string[];
  /** Timeout of the handshake; by default until the deadline of the session. */
  handshakeMs?: number;
  /** Offer only anonymous suites; at most TLS 1.2. */
  anonymous?: boolean;
}

export interface TlsExaminationOptions extends Pick<TlsOptions, 'serverName' | 'handshakeMs'> {
  /** Session of an earlier examination of this server, to resume. */
  session?: Buffer | null;
  /** Protocols to offer in ALPN; by default none. */
  alpn?: string[];
  /** Start a second handshake inside the connection; limits it to TLS 1.2. */
  renegotiate?: boolean;
  /** At most TLS 1.2. */
  old?: boolean;
}

/** Result of one complete handshake besides its version. */
export interface TlsExamination {
  version: string;
  /** The negotiated ALPN protocol. */
  alpn: string | null;
  /** The server stapled the status of its certificate. */
  stapled: boolean;
  /** The session of an earlier handshake was resumed. */
  resumed: boolean;
  /** Session for another handshake; null if the server issued none. */
  session: Buffer | null;
  /** The second handshake completed; null if none was tried. */
  renegotiated: boolean | null;
}

/** A connection with a deadline and a byte cap. Never throws because of the peer. */
export interface Connection {
  readonly latencyMs: number;
  /** Reads until the response is complete, the peer is idle for too long, or a limit is reached. */
  read(options: ReadOptions): Promise<{ bytes: Buffer; end: ReadEnd }>;
  /**
   * False if the peer does not accept the bytes before the deadline.
   * @param last close our half of the connection after them
   */
  write(bytes: Uint8Array, last?: boolean): Promise<boolean>;
  /** Moves the deadline: the session ends this many milliseconds from now. */
  endAfter(ms: number): void;
  /** Upgrades to TLS; `connection` communicates inside it. The reason says why a handshake failed. */
  startTls(
    options: TlsOptions,
  ): Promise<{ connection: Connection; tls: TlsObservation } | { reason: string }>;
  /** One complete handshake, which ends the connection. */
  examineTls(options: TlsExaminationOptions): Promise<TlsExamination | { reason: string }>;
  /** True if the byte cap truncated the session. */
  readonly truncated: boolean;
  /** The alert with which the peer ended the TLS session, by its number (RFC 8446, 6) and name. */
  readonly tlsAlert: { number: number; name: string } | null;
  /** Requests and responses so far. */
  readonly exchanges: Exchange[];
  close(): void;
}

export interface PingOptions {
  timeoutMs: number;
  /** Retries for a silent host. */
  retries: number;
  signal: AbortSignal;
  /**
   * Request types, sent to each host in turn until it responds; by default `echo` only. `timestamp` is for IPv4 and
   * `raw` only, and skipped where it cannot be sent.
   */
  types?: readonly PingType[];
  /** Called for each host that did not respond, with an ICMP error that came about it, or could not be probed. */
  onSilent?: (host: string, rejection?: ProbeRejection) => void;
}

export interface PingResponse {
  host: string;
  latencyMs: number;
  type: PingType;
}

export interface Neighborhood {
  /** On links that are up, without the addresses of this machine. */
  addresses: AddressSet;
  /** Why they cannot be probed, or null. */
  obstacle: string | null;
  /** Unusable links, each with the reason. */
  dead: string[];
}

export interface NeighborSweepOptions extends Omit<PingOptions, 'types'> {
  /** Send on this interface only; null: on all. */
  interface: string | null;
}

export interface NeighborResponse extends Omit<PingResponse, 'type'> {
  /** `52:54:00:12:34:56` */
  mac: string;
  method: 'arp' | 'ndp';
}

export interface UdpProbeOptions {
  /** Total timeout of the response. */
  timeoutMs: number;
  /** Retries while there is no response. */
  retries: number;
  signal: AbortSignal;
  /** Whether a response matches this request; others are ignored. */
  looksLike(response: Uint8Array): boolean;
}

/** A host for UDP probes. */
export interface UdpTask {
  readonly host: string;
  /** Number of remaining ports: a host with many is probed faster, so that it ends in time. */
  readonly ports: number;
  /**
   * The next port to probe, or null if there are no more. Called when the probe is due, not earlier. Ports with a
   * payload should come first: meanwhile a host that limits its ICMP errors gets the time it needs.
   */
  nextPort(): number | null;
}

/** A datagram for a UDP port. */
export interface UdpDatagram {
  /** At most 1232 bytes. */
  bytes: Uint8Array;
  /** Whether a response matches this payload. */
  looksLike?: (response: Uint8Array) => boolean;
  /** The service responds from a port of its own choice (TFTP, RFC 1350). */
  answersElsewhere?: boolean;
}

export interface UdpSweepOptions {
  /** Timeout of the last try; the earlier tries together get the same time. */
  timeoutMs: number;
  /** Retries for a silent port; a port with more payloads than tries gets each of them once. */
  retries: number;
  signal: AbortSignal;
  /** The payloads for a port, sent in turn; none = an empty datagram. */
  payloads(port: number): readonly UdpDatagram[];
}

export interface UdpOutcome<T> {
  task: T;
  port: number;
  state: PortObservation['state'] | 'open|filtered';
  reason: string;
  /** The ICMP error behind it. */
  rejection?: ProbeRejection;
}

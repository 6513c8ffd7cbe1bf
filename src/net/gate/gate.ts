import type { AddressSet } from '../../domain/address-set.ts';
import type { Exchange, TlsObservation } from '../../domain/banner.ts';
import type { PingType } from '../packets/echo.ts';
import type { ConnectJob, SweepOutcome, SynJob } from '../tcp/sweep-job.ts';

/**
 * The one door to the network. Everything that a module sends to a target goes through a gate, which applies the
 * scope, the rate, the byte cap and an absolute deadline together, at the moment of sending.
 */
export interface NetworkGate {
  /** Every address this scan may touch: targets minus exclusions, inside the scope, names resolved. */
  readonly addresses: AddressSet;

  /** One TCP connection attempt that is reset at once: the state of the port and why. */
  probeTcp(host: string, port: number, options: ProbeOptions): Promise<PortObservation>;

  /** One TCP connection attempt kept open for a dialogue. */
  connect(host: string, port: number, options: DialOptions): Promise<DialResult>;

  /** ICMP or ICMPv6 echo, and ICMP timestamps; yields the hosts that answered, and to what. */
  ping(hosts: AsyncIterable<string> | Iterable<string>, options: PingOptions): AsyncIterable<PingResponse>;

  /**
   * UDP probes to ports of hosts, each host at a pace that it bears; yields what became of each. What is `filtered` was
   * said so by an ICMP error; silence is `open|filtered`.
   */
  sweepUdp<T extends UdpTask>(
    tasks: AsyncIterable<T> | Iterable<T>,
    options: UdpSweepOptions,
  ): AsyncIterable<UdpOutcome<T>>;

  /** One question to a UDP port and its answer; null = silence, an ICMP error, or nothing may be sent. */
  askUdp(host: string, port: number, question: Uint8Array, options: UdpProbeOptions): Promise<Buffer | null>;

  /** Why raw TCP packets cannot be sent and heard here, or null. */
  synObstacle(signal: AbortSignal): Promise<string | null>;

  /** Half-open attempts by raw packets, for the same ports of many hosts. @throws Error when the packet engine fails */
  sweepSyn(job: SynJob): Promise<SweepOutcome[]>;

  /** Why `sweepConnect` cannot be used here (`probeTcp` can), or null. */
  connectObstacle(signal: AbortSignal): Promise<string | null>;

  /** Full connections that are reset at once, for the same ports of many hosts. @throws Error when a thread fails */
  sweepConnect(job: ConnectJob): Promise<SweepOutcome[]>;

  /** Addresses of this scan on links of this machine, of one link where a name is given: who can be asked for a MAC. */
  neighbourhood(interfaceName: string | null): Neighbourhood;

  /**
   * ARP and IPv6 Neighbour Discovery (RFC 826, RFC 4861); yields the hosts that answered. Addresses that are not on a
   * link of this machine are passed over.
   */
  sweepNeighbours(hosts: Iterable<string>, options: NeighborSweepOptions): AsyncIterable<NeighborResponse>;

  /** How echo requests leave this machine: `raw`, `datagram`, or `none` with the reason. */
  pingMethod(): { method: 'raw' | 'datagram' | 'none'; reason: string };

  /** The same gate for one module with a rate of its own: both this rate and the rate of the scan hold. */
  limitedTo(packetsPerSecond: number): NetworkGate;

  /**
   * Does work that talks to a target. A pause of the scan cuts every connection; work that lived through one is done
   * anew once the scan goes on. @returns what the last try returned
   */
  throughPauses<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;

  /** Packets that this scan sent so far: connection attempts, echo requests and UDP probes. */
  readonly packetsSent: number;

  /** Packets that could not leave this machine, by reason: no route, link down, no file handle. */
  readonly unsent: ReadonlyMap<string, number>;
}

/** The gate as whoever runs the scan sees it. */
export interface ScanGate extends NetworkGate {
  /**
   * Takes addresses away; they never come back. What is sent to them already is not called back.
   * @returns how many were taken
   */
  narrow(permitted: (addresses: AddressSet) => AddressSet): bigint;

  /** Ends what the gate keeps running beside the scan. */
  close(): Promise<void>;

  /** Attempts that were not made because they would have reached this server itself. */
  readonly spared: number;
}

export interface ProbeOptions {
  /** Longest wait. One SYN is waited for 0.9 s at most, unless the host is known to answer slowly. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * `open`: accepted. `closed`: refused. `filtered`: silence or an ICMP error. `not_tried`: nothing was sent, or the
 * local side failed (out of scope, no file handle, canceled), so it says nothing about the target.
 */
export interface PortObservation {
  state: 'open' | 'closed' | 'filtered' | 'not_tried';
  reason: string;
  latencyMs: number;
}

export interface DialOptions {
  /**
   * The whole dialogue ends this many milliseconds after the connection attempt began, whatever the peer does.
   * Waiting for the rate or for a free socket does not count.
   */
  deadlineMs: number;
  /** How long the connection attempt itself may take; by default until the deadline. */
  connectMs?: number;
  /** Most bytes that are read; afterwards the connection counts as truncated. */
  maxBytes: number;
  signal: AbortSignal;
  /** Called with the milliseconds for which the attempt waited for the rate and for a free socket. */
  onWait?: (ms: number) => void;
}

export type DialResult = { connection: Connection } | { failure: PortObservation };

/** Why reading stopped. */
export type ReadEnd = 'match' | 'idle' | 'closed' | 'reset' | 'cap' | 'deadline';

export interface ReadOptions {
  /** The longest silence between bytes, in milliseconds. */
  idleMs: number;
  /** The longest silence before the first byte; by default `idleMs`. */
  firstMs?: number;
  /**
   * Looks at all bytes of this read whenever more came. `true`: the answer is complete. A number above 0: the answer
   * is complete and has that many bytes; what came after them stays for the next read.
   */
  done?: (bytes: Buffer) => boolean | number;
}

export interface TlsOptions {
  /** Name for SNI; null for a server that is known by its address only. */
  serverName: string | null;
  /** Protocols to offer, e.g. `http/1.1`; empty = no ALPN. */
  alpn: string[];
  /** How long the handshake may take; by default until the deadline of the dialogue. */
  handshakeMs?: number;
  /** Offer only the suites that need no certificate; TLS 1.2 at most. */
  anonymous?: boolean;
}

export interface TlsExaminationOptions extends Pick<TlsOptions, 'serverName' | 'handshakeMs'> {
  /** What an earlier examination of this server gave, to go on with. */
  session?: Buffer | null;
  /** Protocols inside to offer; by default none. */
  alpn?: string[];
  /** Begin a second handshake inside the connection; TLS 1.2 at most is spoken then. */
  renegotiate?: boolean;
  /** TLS 1.2 at most. */
  old?: boolean;
}

/** What one whole handshake showed beside its version. */
export interface TlsExamination {
  version: string;
  /** The protocol inside that was agreed upon. */
  alpn: string | null;
  /** The server brought the status of its certificate along. */
  stapled: boolean;
  /** It went on with the session of an earlier handshake. */
  resumed: boolean;
  /** What another handshake may go on with; null when the server gave nothing. */
  session: Buffer | null;
  /** The second handshake came to its end; null when none was tried. */
  renegotiated: boolean | null;
}

/** A connection under a deadline and a byte cap. It never throws for what the peer does. */
export interface Connection {
  readonly latencyMs: number;
  /** Reads until the answer is complete, the peer is silent for too long, or a limit ends it. */
  read(options: ReadOptions): Promise<{ bytes: Buffer; end: ReadEnd }>;
  /**
   * False when the peer does not take the bytes before the deadline.
   * @param last our half of the connection ends with them
   */
  write(bytes: Uint8Array, last?: boolean): Promise<boolean>;
  /** Continues in TLS; `connection` talks inside it. The reason says why a handshake failed. */
  startTls(
    options: TlsOptions,
  ): Promise<{ connection: Connection; tls: TlsObservation } | { reason: string }>;
  /** One whole handshake, which ends the connection. */
  examineTls(options: TlsExaminationOptions): Promise<TlsExamination | { reason: string }>;
  /** True once the byte cap cut the dialogue short. */
  readonly truncated: boolean;
  /** Requests and answers so far. */
  readonly exchanges: Exchange[];
  close(): void;
}

export interface PingOptions {
  timeoutMs: number;
  /** Further tries for a host that stays silent. */
  retries: number;
  signal: AbortSignal;
  /**
   * Each host is asked with them in turn until it answers; by default with `echo` alone. `timestamp` is for IPv4 and
   * `raw` only: it is left out where it cannot be sent.
   */
  types?: readonly PingType[];
  /** Called for each host that stayed silent, or could not be asked. */
  onSilent?: (host: string) => void;
}

export interface PingResponse {
  host: string;
  latencyMs: number;
  type: PingType;
}

export interface Neighbourhood {
  /** On links that are up; own addresses are none of them. */
  addresses: AddressSet;
  /** Why they cannot be asked, or null. */
  obstacle: string | null;
  /** Links that cannot be used, each with the reason. */
  dead: string[];
}

export interface NeighborSweepOptions extends Omit<PingOptions, 'types'> {
  /** Ask on this interface only; null: on every one. */
  interface: string | null;
}

export interface NeighborResponse extends Omit<PingResponse, 'type'> {
  /** `52:54:00:12:34:56` */
  mac: string;
  method: 'arp' | 'ndp';
}

export interface UdpProbeOptions {
  /** How long an answer is waited for in all. */
  timeoutMs: number;
  /** Further tries while nothing comes. */
  retries: number;
  signal: AbortSignal;
  /** Whether an answer is one to this question; others are passed over. */
  looksLike(answer: Uint8Array): boolean;
}

/** A host that UDP probes go to. */
export interface UdpTask {
  readonly host: string;
  /** How many ports are left: a host with many is probed faster, so that it ends in time. */
  readonly ports: number;
  /**
   * The next port to probe, or null when all were given out. Called when the probe is due, not before. Ports with a
   * payload should come first: while they are asked, a host that limits its ICMP errors is given the time it needs.
   */
  nextPort(): number | null;
}

/** What is sent to a UDP port. */
export interface UdpDatagram {
  /** At most 1232 bytes. */
  bytes: Uint8Array;
  /** Whether an answer is one to this payload. */
  looksLike?: (answer: Uint8Array) => boolean;
  /** The service answers from a port of its own choice (TFTP, RFC 1350). */
  answersElsewhere?: boolean;
}

export interface UdpSweepOptions {
  /** How long the answer to the last try is waited for; tries before it share one such time. */
  timeoutMs: number;
  /** Further tries for a port that stays silent; a port with more payloads than tries is asked with each of them. */
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
}

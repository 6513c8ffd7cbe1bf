import { addressText } from '../../../domain/targets/address.ts';
import { icmpMeaning } from '../../icmp/icmp-meaning.ts';
import { type Chunk, word } from '../engine/chunk.ts';
import { control, type ResponseCounts, type ThreadStart } from '../engine/engine-control.ts';
import type { RejectionKind } from '../engine/rejection-table.ts';
import { type CookieKey, cookie, halfSipHash } from './cookie.ts';
import { noteStack } from './stack-traits.ts';

const protocols = { icmp: 1, tcp: 6, icmp6: 58 } as const;
const flags = { reset: 0x04, synAck: 0x12, resetAck: 0x14 } as const;
/** ICMP errors, by their types: destination unreachable and time exceeded (RFC 792; RFC 4443, 3.1 and 3.3). */
const icmp = { unreachable: 3, timeExceeded: 11 } as const;
const icmp6 = { unreachable: 1, timeExceeded: 3 } as const;

const ipv4Bytes = 20;
const ipv6Bytes = 40;
const tcpBytes = 20;
const icmpBytes = 8;
/** Minimum of a TCP header quoted in an ICMP error: ports and sequence number (RFC 792). */
const quotedTcpBytes = 8;

/**
 * A lost SYN/ACK is repeated by its sender after one second (RFC 6298, 2.1). If others respond at once, such a time
 * is not a round trip.
 */
const repeatMs = 900;

/** What a response says about its endpoint. */
type Outcome = 'open' | 'closed' | 'rejected';

/**
 * Parses received packets, and marks the endpoints that responded as complete. A packet counts only if it shows the cookie of a
 * probe to a pending endpoint. Packets are parsed in place, without allocation: this runs some 100,000 times a
 * second.
 */
export class Responses {
  readonly counts: ResponseCounts = { valid: 0, repeated: 0, foreign: 0 };
  /**
   * Time of the current packets, of `clockMs`. Reading the clock takes longer than parsing, so it is set once per
   * batch.
   */
  now = 0;
  readonly #key: CookieKey;
  readonly #ownPort: number;
  readonly #control: Int32Array;
  #probed: ProbedChunk[] = [];
  /** Of the current packet: its start, the start of its TCP header, and the end of the captured bytes. */
  #start = 0;
  #tcp = 0;
  #end = 0;
  /** Of an ICMP error: the start of its message. */
  #icmp = 0;
  /** The last ICMP error and its sender: those of one router come by the thousand. */
  #lastSender: Uint8Array = new Uint8Array(0);
  #lastRejection: RejectionKind | null = null;

  constructor({ key, ownPort, control: shared }: ThreadStart) {
    this.#key = key;
    this.#ownPort = ownPort;
    this.#control = new Int32Array(shared);
  }

  /** Accepts responses for the chunk from now on. `onOpen` gets each open endpoint once. */
  add(chunk: Chunk, onOpen: (endpoint: number, hasWindow: boolean) => void): void {
    this.#probed.push(new ProbedChunk(chunk, this.#key, onOpen));
  }

  /** @param id of a chunk; no more responses are expected for it */
  remove(id: number): void {
    const isOver = ({ chunk }: ProbedChunk) => chunk.plan.id === id;
    for (const probed of this.#probed) if (isOver(probed)) probed.close();
    this.#probed = this.#probed.filter((probed) => !isOver(probed));
  }

  /**
   * Parses one packet.
   * @param start offset of its network header
   * @param length captured bytes
   */
  read(bytes: Buffer, start: number, length: number): void {
    this.#start = start;
    this.#end = start + length;
    if (!this.#isResponse(bytes, start, length)) this.counts.foreign += 1;
  }

  #isResponse(bytes: Buffer, start: number, length: number): boolean {
    if (length < ipv4Bytes) return false;
    const version = (bytes[start] as number) >>> 4;
    if (version === 4) return this.#readIpv4(bytes, start, length);
    return version === 6 && this.#readIpv6(bytes, start, length);
  }

  #readIpv4(bytes: Buffer, start: number, length: number): boolean {
    const header = ((bytes[start] as number) & 15) * 4;
    const rest = length - header;
    if (header < ipv4Bytes || rest < icmpBytes) return false;
    const protocol = bytes[start + 9];
    const at = start + header;
    if (protocol === protocols.tcp) return rest >= tcpBytes && this.#readTcp(bytes, at, start + 12, 4);
    if (protocol !== protocols.icmp) return false;
    const type = bytes[at];
    if (type !== icmp.unreachable && type !== icmp.timeExceeded) return false;
    this.#icmp = at;
    return this.#readQuotedIpv4(bytes, at + icmpBytes, rest - icmpBytes);
  }

  /** IPv6 extension headers are not parsed: no system responds to a SYN with any. */
  #readIpv6(bytes: Buffer, start: number, length: number): boolean {
    const rest = length - ipv6Bytes;
    if (rest < icmpBytes) return false;
    const next = bytes[start + 6];
    const at = start + ipv6Bytes;
    if (next === protocols.tcp) return rest >= tcpBytes && this.#readTcp(bytes, at, start + 8, 16);
    if (next !== protocols.icmp6) return false;
    const type = bytes[at];
    if (type !== icmp6.unreachable && type !== icmp6.timeExceeded) return false;
    this.#icmp = at;
    return this.#readQuotedIpv6(bytes, at + icmpBytes, rest - icmpBytes);
  }

  /** @param from offset of the sender's address */
  #readTcp(bytes: Buffer, at: number, from: number, addressBytes: number): boolean {
    const flag = bytes[at + 13] as number;
    const isOpen = (flag & (flags.synAck | flags.reset)) === flags.synAck;
    // A reset without an acknowledgment proves nothing.
    if (!isOpen && (flag & flags.resetAck) !== flags.resetAck) return false;
    if (bytes.readUInt16BE(at + 2) !== this.#ownPort) return false;
    const sequence = bytes.readUInt32BE(at + 8) - 1;
    this.#tcp = at;
    return this.#take(
      bytes,
      from,
      addressBytes,
      bytes.readUInt16BE(at),
      sequence,
      isOpen ? 'open' : 'closed',
    );
  }

  /** An ICMP error, identified by the start of the probe that it quotes. */
  #readQuotedIpv4(bytes: Buffer, at: number, length: number): boolean {
    if (length < ipv4Bytes + quotedTcpBytes) return false;
    const header = ((bytes[at] as number) & 15) * 4;
    if (header < ipv4Bytes || length < header + quotedTcpBytes) return false;
    return bytes[at + 9] === protocols.tcp && this.#readQuotedTcp(bytes, at + header, at + 16, 4);
  }

  #readQuotedIpv6(bytes: Buffer, at: number, length: number): boolean {
    if (length < ipv6Bytes + quotedTcpBytes) return false;
    return bytes[at + 6] === protocols.tcp && this.#readQuotedTcp(bytes, at + ipv6Bytes, at + 24, 16);
  }

  /** @param target offset of the destination of the probe */
  #readQuotedTcp(bytes: Buffer, at: number, target: number, addressBytes: number): boolean {
    if (bytes.readUInt16BE(at) !== this.#ownPort) return false;
    const sequence = bytes.readUInt32BE(at + 4);
    return this.#take(bytes, target, addressBytes, bytes.readUInt16BE(at + 2), sequence, 'rejected');
  }

  /**
   * Accepts a response for an endpoint: the address at an offset of the packet, and a port.
   * @param sequence of the probe, as the response shows it
   * @returns false if it is forged, or not requested
   */
  #take(
    bytes: Buffer,
    address: number,
    addressBytes: number,
    to: number,
    sequence: number,
    outcome: Outcome,
  ): boolean {
    const hash = halfSipHash(this.#key, bytes, address, addressBytes);
    if ((sequence ^ cookie(this.#key, hash, (to << 16) | this.#ownPort)) !== 0) return false;
    let isProbed = false;
    // Discovery and a scan may probe the same endpoint at a time: every waiting one gets it.
    for (const probed of this.#probed) {
      const host = probed.hostAt(bytes, address, addressBytes, hash);
      const number = probed.portNumber(to);
      if (host < 0 || number < 0) continue;
      isProbed = true;
      const endpoint = host * probed.chunk.plan.ports.length + number;
      if (!probed.settle(endpoint, host, outcome)) continue;
      this.counts.valid += 1;
      if (outcome === 'rejected')
        probed.chunk.rejections.note(endpoint, this.#rejection(bytes, address, addressBytes));
      if (outcome === 'open') {
        noteStack(probed.chunk.stacks, host, bytes, this.#start, this.#tcp, this.#end);
        probed.onOpen(endpoint, bytes.readUInt16BE(this.#tcp + 14) !== 0);
      }
      this.#noteRoundTrip(probed.chunk, endpoint);
      return true;
    }
    if (isProbed) this.counts.repeated += 1;
    return isProbed;
  }

  /** @param target offset of the destination of the probe, in the packet that the error quotes */
  #rejection(bytes: Buffer, target: number, addressBytes: number): RejectionKind {
    const family = addressBytes === 4 ? 4 : 6;
    const sender = this.#start + (family === 4 ? 12 : 8);
    const type = bytes[this.#icmp] as number;
    const code = bytes[this.#icmp + 1] as number;
    const isHost = areSame(bytes, target, bytes, sender, addressBytes);
    const last = this.#lastRejection;
    const isSame =
      last?.icmp?.type === type &&
      last.icmp.code === code &&
      (last.from === 'host') === isHost &&
      this.#lastSender.length === addressBytes &&
      (isHost || areSame(this.#lastSender, 0, bytes, sender, addressBytes));
    if (isSame) return last;
    const message = { type, code };
    this.#lastSender = Uint8Array.from({ length: addressBytes }, (_, at) => bytes[sender + at] as number);
    this.#lastRejection = {
      reason: icmpMeaning(family, message) ?? 'unreachable',
      icmp: message,
      from: isHost ? 'host' : addressText(this.#lastSender),
    };
    return this.#lastRejection;
  }

  /** From first tries only, unless nothing is known: later it is ambiguous which try got the response (RFC 6298, 3). */
  #noteRoundTrip(chunk: Chunk, endpoint: number): void {
    const known = Atomics.load(this.#control, control.roundTrip);
    if (known >= 0 && Atomics.load(chunk.control, word.try) > 1) return;
    const ms = chunk.sinceSent(endpoint, this.now);
    const isRepeated = ms >= repeatMs && known >= 0 && known < repeatMs / 2;
    if (ms > known && !isRepeated) Atomics.store(this.#control, control.roundTrip, ms);
  }
}

function areSame(one: Uint8Array, at: number, other: Uint8Array, from: number, length: number): boolean {
  for (let next = 0; next < length; next++) if (one[at + next] !== other[from + next]) return false;
  return true;
}

/** Tables of ended chunks, all zero, for reuse: V8 hardly ever collects in a thread that allocates so little. */
const portTables: Uint16Array[] = [];

/** Pending endpoints of one chunk. */
class ProbedChunk {
  readonly chunk: Chunk;
  readonly onOpen: (endpoint: number, hasWindow: boolean) => void;
  readonly #addressBytes: number;
  /** Host index + 1 by the hash of the address: open addressing, at most half full. */
  readonly #table: Int32Array;
  readonly #hashes: Int32Array;
  /** Port index + 1 by port. */
  readonly #ports = portTables.pop() ?? new Uint16Array(65_536);

  constructor(chunk: Chunk, key: CookieKey, onOpen: ProbedChunk['onOpen']) {
    const { plan, hostCount } = chunk;
    this.chunk = chunk;
    this.onOpen = onOpen;
    this.#addressBytes = plan.family === 4 ? 4 : 16;
    this.#hashes = new Int32Array(hostCount);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(2 * hostCount + 1)));
    for (let host = 0; host < hostCount; host++) {
      const hash = halfSipHash(key, plan.hosts, host * this.#addressBytes, this.#addressBytes);
      this.#hashes[host] = hash;
      let place = hash & (this.#table.length - 1);
      while (this.#table[place] !== 0) place = (place + 1) & (this.#table.length - 1);
      this.#table[place] = host + 1;
    }
    for (const [number, to] of plan.ports.entries()) this.#ports[to] = number + 1;
  }

  /** Nothing is read for it any more. */
  close(): void {
    for (const to of this.chunk.plan.ports) this.#ports[to] = 0;
    portTables.push(this.#ports);
  }

  /** The index of a host by its address in a packet, -1 if it is not in this chunk. */
  hostAt(bytes: Buffer, at: number, addressBytes: number, hash: number): number {
    if (addressBytes !== this.#addressBytes) return -1;
    const mask = this.#table.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const host = (this.#table[place] as number) - 1;
      if (host < 0) return -1;
      if (this.#hashes[host] === hash && this.#isHost(host, bytes, at)) return host;
    }
  }

  /** -1 if the port is not probed. */
  portNumber(to: number): number {
    return (this.#ports[to] as number) - 1;
  }

  /** @returns false if the endpoint was complete before */
  settle(endpoint: number, host: number, outcome: Outcome): boolean {
    const { plan, counts, dropped, control: own, late, openRuns, hostRates } = this.chunk;
    if (!this.chunk.settle(endpoint)) return false;
    (counts[outcome][host] as number)++;
    if (outcome !== 'rejected') {
      openRuns[host] = outcome === 'open' ? (openRuns[host] as number) + 1 : 0;
      if (Atomics.load(own, word.try) > 1) (late[host] as number)++;
      else hostRates?.noteResponse(endpoint, host);
    }
    // An error from a router says nothing about the host.
    if (plan.untilAnswer && outcome !== 'rejected') dropped[host] = 1;
    return true;
  }

  #isHost(host: number, bytes: Buffer, at: number): boolean {
    const { hosts } = this.chunk.plan;
    const from = host * this.#addressBytes;
    for (let index = 0; index < this.#addressBytes; index++)
      if (hosts[from + index] !== bytes[at + index]) return false;
    return true;
  }
}

import type { ChunkPlan } from '../engine/chunk.ts';
import { bindPacketSocket } from '../linux/packet-socket.ts';
import { socketNameBytes as nameBytes, socketNames } from '../linux/socket-name.ts';
import { afPacket, errnoName, loadSys, msgDontwait, type Sys, socketTypes } from '../linux/sys.ts';
import { foldedChecksum, type SynLayout, swap16, synTemplate, templateSums, wordSum } from './frame.ts';

/** Probes per system call; more gain nothing. */
export const synsAtOnce = 128;

/** Bytes from one probe to the next; the longest, an Ethernet frame with IPv6, has 94. */
const stride = 128;
const headerBytes = 64;
const vectorBytes = 16;

const nonblocking = 0x800;
const ipprotoRaw = 255;

/** No room in the queue of the interface, or of the socket. */
const crowded = new Set([11, 12, 105]);
/** The interface is gone or down. */
const gone = new Set([6, 19, 100]);
/** How long a congested interface is retried: behind a dead link it stays congested. */
const longestCrowdMs = 5000;

/** Memory of finished batches, for reuse: mapped memory stays mapped. */
const arenas: Arena[] = [];

/** SYNs of one chunk, written to memory that the kernel reads, and sent by one call. */
export class SynBatch {
  readonly #plan: ChunkPlan;
  readonly #sys: Sys;
  readonly #fd: number;
  readonly #arena: Arena;
  readonly #layout: SynLayout;
  readonly #sums: { ip: number; tcp: number };
  /** Sums of the words of each host's address. */
  readonly #hostSums: Uint32Array;
  /** Byte-swapped, as stored. */
  readonly #ports: Uint16Array;
  /** How often the interface took no more packets for a while. */
  crowded = 0;
  /** Probes that the kernel did not send, by errno name. */
  readonly unsent = new Map<string, number>();
  readonly #endpoints = new Uint32Array(synsAtOnce);

  /** @throws Error if the socket cannot be opened */
  constructor(plan: ChunkPlan, ownPort: number) {
    this.#plan = plan;
    this.#sys = loadSys();
    this.#fd = openSender(this.#sys, plan);
    this.#arena = arenas.pop() ?? new Arena(this.#sys);
    const { bytes, layout } = synTemplate(plan, ownPort);
    this.#layout = layout;
    this.#sums = templateSums(bytes, layout);
    const { addressBytes } = layout;
    const hosts = plan.hosts.length / addressBytes;
    this.#hostSums = Uint32Array.from({ length: hosts }, (_, host) =>
      wordSum(plan.hosts, host * addressBytes, addressBytes),
    );
    this.#ports = plan.ports.map(swap16);
    this.#arena.prepare(bytes, plan);
  }

  /** Writes the probe of an endpoint to an index. @param sequence 32 bits; higher bits are cut off */
  put(place: number, endpoint: number, host: number, port: number, sequence: number): void {
    const { words, bytes } = this.#arena;
    const {
      mac,
      destination,
      addressBytes,
      ipChecksum,
      port: portAt,
      sequence: sequenceAt,
      tcpChecksum,
    } = this.#layout;
    const { hosts, macs } = this.#plan;
    const start = this.#arena.probe(place);
    if (mac >= 0 && macs) for (let at = 0; at < 6; at++) bytes[start + at] = macs[host * 6 + at] as number;
    const address = host * addressBytes;
    for (let at = 0; at < addressBytes; at++) bytes[start + destination + at] = hosts[address + at] as number;
    const swappedPort = this.#ports[port] as number;
    const high = swap16(sequence >>> 16);
    const low = swap16(sequence & 0xffff);
    const hostSum = this.#hostSums[host] as number;
    if (ipChecksum >= 0) words[(start + ipChecksum) >> 1] = foldedChecksum(this.#sums.ip + hostSum);
    words[(start + portAt) >> 1] = swappedPort;
    words[(start + sequenceAt) >> 1] = high;
    words[((start + sequenceAt) >> 1) + 1] = low;
    words[(start + tcpChecksum) >> 1] = foldedChecksum(this.#sums.tcp + hostSum + swappedPort + high + low);
    if (mac < 0) this.#arena.name(place, hosts, address, addressBytes);
    this.#endpoints[place] = endpoint;
  }

  /**
   * Sends the first probes of the batch.
   * @returns endpoints whose probes the kernel did not send
   * @throws Error if the interface cannot send any more
   */
  send(count: number): number[] {
    const refused: number[] = [];
    let crowdedSince = 0;
    let pause = 1;
    for (let at = 0; at < count; ) {
      const sent = this.#sys.sendmmsg(
        this.#fd,
        this.#arena.headers + at * headerBytes,
        count - at,
        msgDontwait,
      );
      if (sent > 0) {
        at += sent;
        crowdedSince = 0;
        pause = 1;
        continue;
      }
      const errno = this.#sys.errno();
      if (gone.has(errno)) throw new Error(`the interface cannot send: ${errnoName(errno)}`);
      if (!crowded.has(errno)) {
        // Only this probe: no route to it, forbidden by a firewall rule, ...
        refused.push(this.#endpoints[at] as number);
        const reason = errnoName(errno);
        this.unsent.set(reason, (this.unsent.get(reason) ?? 0) + 1);
        at += 1;
        continue;
      }
      if (crowdedSince === 0) {
        crowdedSince = performance.now();
        this.crowded += 1;
      }
      if (performance.now() - crowdedSince > longestCrowdMs) {
        throw new Error(
          `the interface accepted no packet for ${longestCrowdMs / 1000} s (${errnoName(errno)}); is its link down?`,
        );
      }
      Atomics.wait(sleeper, 0, 0, pause);
      pause = Math.min(50, pause * 2);
    }
    return refused;
  }

  close(): void {
    this.#sys.close(this.#fd);
    arenas.push(this.#arena);
  }
}

/** Never notified: used for sleeping. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

function openSender(sys: Sys, { rung, family, link }: ChunkPlan): number {
  const fd =
    rung === 'frame'
      ? sys.socket(afPacket, socketTypes.raw | nonblocking, 0)
      : sys.socket(socketNames[family].domain, socketTypes.raw | nonblocking, ipprotoRaw);
  if (fd < 0) throw new Error(`cannot open a raw socket: ${errnoName(sys.errno())}`);
  if (rung === 'ip') return fd;
  if (bindPacketSocket(sys, fd, 0, link)) return fd;
  const reason = errnoName(sys.errno());
  sys.close(fd);
  throw new Error(`cannot use the interface: ${reason}`);
}

/** The structures of one sendmmsg, linked once: mmsghdr, iovec, sockaddr, packet. */
class Arena {
  readonly headers: number;
  readonly bytes: Buffer;
  readonly words: Uint16Array;
  readonly #names = synsAtOnce * (headerBytes + vectorBytes);
  readonly #probes = synsAtOnce * (headerBytes + vectorBytes + nameBytes);

  constructor(sys: Sys) {
    const { address, buffer } = sys.memory(synsAtOnce * (headerBytes + vectorBytes + nameBytes + stride));
    this.headers = address;
    this.bytes = buffer;
    this.words = new Uint16Array(buffer.buffer, buffer.byteOffset, buffer.length / 2);
    for (let place = 0; place < synsAtOnce; place++) {
      const header = place * headerBytes;
      const vector = synsAtOnce * headerBytes + place * vectorBytes;
      buffer.writeBigUInt64LE(BigInt(address + vector), header + 16);
      buffer.writeBigUInt64LE(1n, header + 24);
      buffer.writeBigUInt64LE(BigInt(address + this.probe(place)), vector);
    }
  }

  probe(place: number): number {
    return this.#probes + place * stride;
  }

  prepare(template: Buffer, { rung, family, link }: ChunkPlan): void {
    const base = Number(this.headers);
    for (let place = 0; place < synsAtOnce; place++) {
      const header = place * headerBytes;
      const name = this.#names + place * nameBytes;
      this.bytes.fill(0, name, name + nameBytes);
      if (rung === 'ip') this.bytes.writeUInt16LE(socketNames[family].domain, name);
      // Counts for link-local addresses only.
      if (family === 6) this.bytes.writeUInt32LE(link, name + 24);
      this.bytes.writeBigUInt64LE(rung === 'ip' ? BigInt(base + name) : 0n, header);
      this.bytes.writeUInt32LE(rung === 'ip' ? socketNames[family].length : 0, header + 8);
      this.bytes.writeBigUInt64LE(
        BigInt(template.length),
        synsAtOnce * headerBytes + place * vectorBytes + 8,
      );
      template.copy(this.bytes, this.probe(place));
    }
  }

  /** The address of the kernel's routing, for packets without frame. */
  name(place: number, hosts: Uint8Array, from: number, addressBytes: number): void {
    const start = this.#names + place * nameBytes + (addressBytes === 4 ? 4 : 8);
    for (let at = 0; at < addressBytes; at++) this.bytes[start + at] = hosts[from + at] as number;
  }
}

import { encodeFilter, type FilterInstruction } from '../frame/filter.ts';
import { readNetworks } from './links.ts';
import { MessageArena, type SentMessages } from './message-arena.ts';
import { aimFrame, type NeighborReply, readReply, requestFrame } from './neighbor-frame.ts';
import { attachFilter, bindPacketSocket } from './packet-socket.ts';
import { packetRejection } from './rights.ts';
import { afPacket, errnoName, nonblockCloexec, type Sys, socketTypes, sysOrReason, u32 } from './sys.ts';

/** Frames per system call. */
export const frameBatch = 64;

const protocol = { 4: 0x0806, 16: 0x86dd } as const;

/** Room for a frame; the replies are 42 and 86 bytes. */
const frameBytes = 128;

/** The facts about a link that its neighbor resolution needs; an `ethernet` route has them all. */
export interface NeighborLink {
  interface: string;
  index: number;
  /** Own MAC, 6 bytes. */
  mac: Uint8Array | null;
  /** Own address, 4 or 16 bytes. */
  source: Uint8Array;
}

/** A non-blocking packet socket of one link that resolves neighbors of one family: ARP, or IPv6 Neighbor Discovery. */
export class NeighborSocket {
  #sys: Sys;
  #fd: number;
  #source: Uint8Array;
  #mac: Uint8Array;
  #arena: MessageArena;
  #requestBytes: number;

  private constructor(sys: Sys, fd: number, mac: Uint8Array, source: Uint8Array) {
    this.#sys = sys;
    this.#fd = fd;
    this.#mac = mac;
    this.#source = source;
    this.#arena = arenas.pop() ?? new MessageArena(sys, arenaShape);
    const request = requestFrame(mac, source);
    this.#requestBytes = request.length;
    for (let at = 0; at < frameBatch; at++) this.#arena.write(at, request);
  }

  /**
   * @param bytes 4 resolves IPv4 addresses, 16 IPv6
   * @returns the socket, or why there is none
   */
  static open(link: NeighborLink, bytes: 4 | 16): NeighborSocket | { reason: string } {
    const sys = sysOrReason();
    if ('reason' in sys) return sys;
    if (!link.mac) return { reason: `interface ${link.interface} has no MAC address` };
    const source = link.source.length === bytes ? link.source : linkLocalOf(link.index);
    if (!source) return { reason: `interface ${link.interface} has no source address` };
    // Protocol 0: nothing is received before the filter is in place.
    const fd = sys.socket(afPacket, socketTypes.raw | nonblockCloexec, 0);
    if (fd < 0) return { reason: packetRejection(errnoName(sys.errno())) };
    const socket = new NeighborSocket(sys, fd, link.mac, source);
    if (socket.#listen(link.index, bytes)) return socket;
    const reason = `interface ${link.interface}: ${errnoName(sys.errno())}`;
    socket.close();
    return { reason };
  }

  /** Sends requests for the addresses from the first on. */
  send(addresses: readonly Uint8Array[]): SentMessages {
    const count = Math.min(addresses.length, frameBatch);
    for (let at = 0; at < count; at++)
      aimFrame(this.#arena.sendData(at, this.#requestBytes), addresses[at] as Uint8Array);
    return this.#arena.send(this.#fd, count);
  }

  /** All pending replies; their bytes are valid until the next one is taken. */
  *receive(): Generator<NeighborReply, void, undefined> {
    for (;;) {
      const count = this.#arena.receive(this.#fd);
      for (let at = 0; at < count; at++) {
        const reply = readReply(this.#arena.receivedData(at), this.#source);
        // An echo of our own frame is not a reply.
        if (reply && !reply.mac.equals(this.#mac)) yield reply;
      }
      if (count < frameBatch) return;
    }
  }

  close(): void {
    if (this.#fd < 0) return;
    this.#sys.close(this.#fd);
    this.#fd = -1;
    arenas.push(this.#arena);
  }

  #listen(index: number, bytes: 4 | 16): boolean {
    if (!attachFilter(this.#sys, this.#fd, encodeFilter(responseProgram(bytes)))) return false;
    const room = u32(1 << 22);
    // SO_RCVBUFFORCE if permitted, else SO_RCVBUF.
    if (this.#sys.setsockopt(this.#fd, 1, 33, room, 4) < 0) this.#sys.setsockopt(this.#fd, 1, 8, room, 4);
    return bindPacketSocket(this.#sys, this.#fd, protocol[bytes], index);
  }
}

/** An IPv4 route may have an IPv6 next hop: resolve it from the link-local address. */
function linkLocalOf(index: number): Uint8Array | null {
  const own = readNetworks().find((network) => network.index === index && network.first >> 118n === 0x3fan);
  return own?.address ?? null;
}

/**
 * Instructions of a classic BPF program: frames for this machine without a VLAN tag that are ARP replies or Neighbor
 * Advertisements.
 */
function responseProgram(bytes: 4 | 16): FilterInstruction[] {
  const response: FilterInstruction[] =
    bytes === 4
      ? [
          [0x28, 0, 0, 20], // half word: operation
          [0x15, 0, 1, 2],
        ]
      : [
          [0x30, 0, 0, 20], // byte: next header
          [0x15, 0, 3, 58],
          [0x30, 0, 0, 54], // byte: ICMPv6 type
          [0x15, 0, 1, 136],
        ];
  const rest = response.length;
  return [
    [0x30, 0, 0, 0xfffff004], // packet type, SKF_AD_PKTTYPE
    [0x35, rest + 3, 0, 3], // of another host, or outgoing
    [0x30, 0, 0, 0xfffff030], // SKF_AD_VLAN_TAG_PRESENT
    [0x15, 0, rest + 1, 0],
    ...response,
    [0x06, 0, 0, frameBytes],
    [0x06, 0, 0, 0],
  ];
}

const arenaShape = {
  messages: frameBatch,
  nameBytes: 0,
  sendBytes: frameBytes,
  receiveBytes: frameBytes,
  controlBytes: 0,
};

/** Arenas of closed sockets, for reuse. */
const arenas: MessageArena[] = [];

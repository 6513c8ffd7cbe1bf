/** Requests and replies of ARP (RFC 826) and IPv6 Neighbor Discovery (RFC 4861) as Ethernet frames. */

const etherType = { arp: 0x0806, ipv6: 0x86dd } as const;
const arp = { request: 1, reply: 2, bytes: 28 } as const;
const icmp6 = { protocol: 58, solicitation: 135, advertisement: 136 } as const;
const ethernetBytes = 14;
const ipv6Bytes = 40;
/** What only a sender on the same link can have: routers count it down (RFC 4861, 7.1). */
const ownLinkHops = 255;
const sourceMacOption = 1;
const targetMacOption = 2;

/** A request without its target address; `aimFrame` fills it in. */
export function requestFrame(mac: Uint8Array, source: Uint8Array): Buffer {
  return source.length === 4 ? arpRequest(mac, source) : solicitation(mac, source);
}

/** Writes the target address, 4 or 16 bytes, into a request frame. */
export function aimFrame(frame: Buffer, address: Uint8Array): void {
  if (address.length === 4) frame.set(address, 38);
  else aimSolicitation(frame, address);
}

function arpRequest(mac: Uint8Array, source: Uint8Array): Buffer {
  const frame = Buffer.alloc(ethernetBytes + arp.bytes);
  frame.fill(0xff, 0, 6);
  frame.set(mac, 6);
  frame.writeUInt16BE(etherType.arp, 12);
  frame.writeUInt16BE(1, 14); // Ethernet
  frame.writeUInt16BE(0x0800, 16); // IPv4
  frame.writeUInt8(6, 18);
  frame.writeUInt8(4, 19);
  frame.writeUInt16BE(arp.request, 20);
  frame.set(mac, 22);
  frame.set(source, 28);
  return frame;
}

function solicitation(mac: Uint8Array, source: Uint8Array): Buffer {
  const payload = 32; // ICMPv6 header 4, reserved 4, target 16, option 8
  const frame = Buffer.alloc(ethernetBytes + ipv6Bytes + payload);
  // The group of all hosts whose address ends in the same 24 bits, and its MAC (RFC 4291, 2.7.1; RFC 2464, 7).
  frame.set([0x33, 0x33, 0xff], 0);
  frame.set(mac, 6);
  frame.writeUInt16BE(etherType.ipv6, 12);
  frame.writeUInt8(0x60, 14);
  frame.writeUInt16BE(payload, 18);
  frame.writeUInt8(icmp6.protocol, 20);
  frame.writeUInt8(ownLinkHops, 21);
  frame.set(source, 22);
  frame.set([0xff, 0x02], 38);
  frame.set([0x01, 0xff], 49);
  frame.writeUInt8(icmp6.solicitation, 54);
  frame.set([sourceMacOption, 1], 78);
  frame.set(mac, 80);
  return frame;
}

function aimSolicitation(frame: Buffer, address: Uint8Array): void {
  const group = address.subarray(13);
  frame.set(group, 3);
  frame.set(group, 51);
  frame.set(address, 62);
  frame.writeUInt16BE(0, 56);
  frame.writeUInt16BE(icmp6Checksum(frame.subarray(ethernetBytes)), 56);
}

/** The sender of a reply; both are parts of the frame. */
export interface NeighborReply {
  /** 4 or 16 bytes. */
  address: Buffer;
  /** 6 bytes of one host. */
  mac: Buffer;
}

/** Parses a reply to requests from that address; null if it is not one. */
export function readReply(frame: Buffer, source: Uint8Array): NeighborReply | null {
  const reply = source.length === 4 ? readArp(frame, source) : readAdvertisement(frame, source);
  return reply && isHostMac(reply.mac) ? reply : null;
}

function readArp(frame: Buffer, source: Uint8Array): NeighborReply | null {
  if (frame.length < ethernetBytes + arp.bytes || frame.readUInt16BE(12) !== etherType.arp) return null;
  const plain = frame.readUInt32BE(14) === 0x0001_0800 && frame.readUInt32BE(18) === 0x0604_0000 + arp.reply;
  if (!plain || !frame.subarray(38, 42).equals(source)) return null;
  return { mac: frame.subarray(22, 28), address: frame.subarray(28, 32) };
}

function readAdvertisement(frame: Buffer, source: Uint8Array): NeighborReply | null {
  if (frame.length < ethernetBytes + ipv6Bytes + 24 || frame.readUInt16BE(12) !== etherType.ipv6) return null;
  const payload = frame.readUInt16BE(18);
  const end = ethernetBytes + ipv6Bytes + payload;
  if (payload < 24 || frame.length < end) return null;
  if (frame[20] !== icmp6.protocol || frame[21] !== ownLinkHops) return null;
  if (frame[54] !== icmp6.advertisement || frame[55] !== 0) return null;
  const packet = frame.subarray(ethernetBytes, end);
  if (!packet.subarray(24, 40).equals(source) || icmp6Checksum(packet) !== 0) return null;
  // Without the option, the reply comes from the host itself.
  const mac = targetMac(frame.subarray(78, end)) ?? frame.subarray(6, 12);
  return { mac, address: frame.subarray(62, 78) };
}

function targetMac(options: Buffer): Buffer | null {
  for (let at = 0; at + 8 <= options.length; ) {
    const length = (options[at + 1] ?? 0) * 8;
    if (length === 0) return null;
    if (options[at] === targetMacOption && length === 8) return options.subarray(at + 2, at + 8);
    at += length;
  }
  return null;
}

/** Neither a group address nor all zero. */
function isHostMac(mac: Buffer): boolean {
  return ((mac[0] ?? 1) & 1) === 0 && mac.some((byte) => byte !== 0);
}

/**
 * The checksum of an ICMPv6 packet with its IPv6 header in front (RFC 4443, 2.3): what belongs into an empty field; 0
 * when the field has the right one.
 */
function icmp6Checksum(packet: Buffer): number {
  let sum = packet.length - ipv6Bytes + icmp6.protocol;
  for (let at = 8; at + 1 < packet.length; at += 2) sum += packet.readUInt16BE(at);
  if (packet.length % 2 === 1) sum += (packet[packet.length - 1] ?? 0) << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

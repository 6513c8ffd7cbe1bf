import type { ChunkPlan } from '../engine/chunk.ts';

/**
 * The TCP options of common clients: maximum segment size 1460 (RFC 9293, 3.7.1), selective acknowledgments (RFC
 * 2018), timestamp and window scale (RFC 7323). A host responds with those it supports, in its own order.
 */
const synOptions = Buffer.from('020405b40402080a000000010000000001030307', 'hex');
const tcpBytes = 20 + synOptions.length;
const ethernetBytes = 14;
const synFlag = 0x02;
const windowSize = 64_240;
const hops = 64;

/** Offsets of the fields of a SYN that differ between probes. */
export interface SynLayout {
  length: number;
  /** Destination MAC; -1 if there is none. */
  mac: number;
  destination: number;
  addressBytes: number;
  /** Checksum of the IPv4 header; -1 for IPv6. */
  ipChecksum: number;
  port: number;
  sequence: number;
  tcpChecksum: number;
}

/**
 * A SYN without its destination: missing fields are zero, checksums too.
 * @param ownPort source port
 */
export function synTemplate(
  { family, rung, source, ownMac }: Pick<ChunkPlan, 'family' | 'rung' | 'source' | 'ownMac'>,
  ownPort: number,
): { bytes: Buffer; layout: SynLayout } {
  const addressBytes = family === 4 ? 4 : 16;
  const ip = rung === 'frame' ? ethernetBytes : 0;
  const tcp = ip + (family === 4 ? 20 : 40);
  const bytes = Buffer.alloc(tcp + tcpBytes);
  if (rung === 'frame') {
    if (ownMac) bytes.set(ownMac, 6);
    bytes.writeUInt16BE(family === 4 ? 0x0800 : 0x86dd, 12);
  }
  if (family === 4) writeIpv4(bytes.subarray(ip), source);
  else writeIpv6(bytes.subarray(ip), source);
  bytes.writeUInt16BE(ownPort, tcp);
  bytes.writeUInt8((tcpBytes / 4) << 4, tcp + 12);
  bytes.writeUInt8(synFlag, tcp + 13);
  bytes.writeUInt16BE(windowSize, tcp + 14);
  bytes.set(synOptions, tcp + 20);
  return {
    bytes,
    layout: {
      length: bytes.length,
      mac: rung === 'frame' ? 0 : -1,
      destination: ip + (family === 4 ? 16 : 24),
      addressBytes,
      ipChecksum: family === 4 ? ip + 10 : -1,
      port: tcp + 2,
      sequence: tcp + 4,
      tcpChecksum: tcp + 16,
    },
  };
}

/** RFC 791. No fragments, so no identification is needed (RFC 6864). */
function writeIpv4(header: Buffer, source: Uint8Array): void {
  header[0] = 0x45;
  header.writeUInt16BE(20 + tcpBytes, 2);
  header.writeUInt16BE(0x4000, 6);
  header[8] = hops;
  header[9] = 6;
  header.set(source, 12);
}

/** RFC 8200. */
function writeIpv6(header: Buffer, source: Uint8Array): void {
  header[0] = 0x60;
  header.writeUInt16BE(tcpBytes, 4);
  header[6] = 6;
  header[7] = hops;
  header.set(source, 8);
}

/**
 * Sums of the 16-bit words of a template as they lie in memory on a little-endian machine (RFC 1071, 2 B: the sum does
 * not depend on the byte order): of the IPv4 header, and of the TCP segment with its pseudo header without destination.
 */
export function templateSums(bytes: Buffer, layout: SynLayout): { ip: number; tcp: number } {
  const ip = layout.destination - (layout.addressBytes === 4 ? 16 : 24);
  const tcp = layout.port - 2;
  const source = layout.destination - layout.addressBytes;
  const pseudo = wordSum(bytes, source, layout.addressBytes) + swap16(6) + swap16(tcpBytes);
  return { ip: wordSum(bytes, ip, 20), tcp: pseudo + wordSum(bytes, tcp, tcpBytes) };
}

/** Sum of little-endian 16-bit words. */
export function wordSum(bytes: Uint8Array, from: number, length: number): number {
  let sum = 0;
  for (let at = from; at < from + length; at += 2)
    sum += (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  return sum;
}

/** The checksum of a sum of words, to be stored as such a word. */
export function foldedChecksum(sum: number): number {
  const once = (sum & 0xffff) + (sum >>> 16);
  return ~((once & 0xffff) + (once >>> 16)) & 0xffff;
}

export function swap16(value: number): number {
  return ((value & 0xff) << 8) | ((value >>> 8) & 0xff);
}

import type { StackTraits } from '../../../domain/host.ts';

/**
 * TCP characteristics of a host's first SYN/ACK, in three words, without allocating an object. 0: hops left, flags,
 * window. 1: maximum segment size, window scale. 2: the first eight options, four bits each.
 */
export const stackWords = 3;

/** Flag bits. `seen` is set in every filled entry. */
const seen = 1;
const dontFragment = 2;
const congestion = 4;
const scaled = 1 << 16;

/** Kinds of options by their number (RFC 9293, 3.1; RFC 7323; RFC 2018); a kind without a name is `other`. */
const optionNames = ['end', 'nop', 'mss', 'ws', 'sack', 'other', 'other', 'other', 'ts'] as const;
const otherOption = 5;
const endOfOptions = 0;
const noOperation = 1;
/** Number of stored options per packet: four bits of one word each. */
const optionPlaces = 8;

const tcpBytes = 20;

/**
 * Stores the characteristics of a SYN/ACK, unless the host has some already.
 * @param start offset of its network header
 * @param at offset of its TCP header, which is complete
 * @param end end of the captured bytes
 */
export function noteStack(
  table: Uint32Array,
  host: number,
  bytes: Buffer,
  start: number,
  at: number,
  end: number,
): void {
  const place = host * stackWords;
  if (table[place] !== 0) return;
  const isIpv4 = (bytes[start] as number) >>> 4 === 4;
  const hops = bytes[start + (isIpv4 ? 8 : 7)] as number;
  let flags = seen;
  if (isIpv4 && ((bytes[start + 6] as number) & 0x40) !== 0) flags |= dontFragment;
  if (((bytes[at + 13] as number) & 0x40) !== 0) flags |= congestion;
  table[place + 1] = 0;
  table[place + 2] = 0;
  const last = Math.min(end, at + ((bytes[at + 12] as number) >>> 4) * 4);
  for (let option = at + tcpBytes, count = 0; option < last && count < optionPlaces; count++) {
    const kind = bytes[option] as number;
    const isKnown = kind < optionNames.length && optionNames[kind] !== 'other';
    // An empty place is 0, so each kind is kept as one more.
    table[place + 2] = (table[place + 2] as number) | (((isKnown ? kind : otherOption) + 1) << (4 * count));
    if (kind === endOfOptions) break;
    if (kind === noOperation) {
      option += 1;
      continue;
    }
    const length = option + 1 < last ? (bytes[option + 1] as number) : 0;
    if (length < 2 || option + length > last) break;
    if (kind === 2 && length === 4)
      table[place + 1] = (table[place + 1] as number) | bytes.readUInt16BE(option + 2);
    if (kind === 3 && length === 3)
      table[place + 1] = (table[place + 1] as number) | scaled | ((bytes[option + 2] as number) << 17);
    option += length;
  }
  table[place] = hops | (flags << 8) | (bytes.readUInt16BE(at + 14) << 16);
}

/** The stored characteristics of a host, or null. */
export function stackAt(table: Uint32Array, host: number): StackTraits | null {
  const [head = 0, sizes = 0, kinds = 0] = table.subarray(host * stackWords, (host + 1) * stackWords);
  const flags = (head >>> 8) & 0xff;
  if ((flags & seen) === 0) return null;
  const options: string[] = [];
  for (let rest = kinds; rest !== 0; rest >>>= 4) options.push(optionNames[(rest & 15) - 1] ?? 'other');
  return {
    hops: head & 0xff,
    window: head >>> 16,
    mss: (sizes & 0xffff) === 0 ? null : sizes & 0xffff,
    scale: (sizes & scaled) === 0 ? null : (sizes >>> 17) & 0xff,
    options,
    dont_fragment: (flags & dontFragment) !== 0,
    ecn: (flags & congestion) !== 0,
  };
}

import { randomFillSync } from 'node:crypto';

/**
 * Keyed hashes that make a stateless sweep safe: a probe carries a hash of its destination, and only a response that
 * echoes it counts. HalfSipHash-2-4 (Aumasson and Bernstein, https://github.com/veorq/SipHash), 32 bits with a key of
 * 64: additions, rotations and xor of 32-bit words, which JavaScript numbers do fast.
 */
export type CookieKey = readonly [number, number];

export function randomCookieKey(): CookieKey {
  const words = randomFillSync(new Uint32Array(2));
  return [words[0] as number, words[1] as number];
}

const initial = { v2: 0x6c796765, v3: 0x74656462 };

/** The hash of bytes, as a signed number of 32 bits. */
export function halfSipHash([k0, k1]: CookieKey, bytes: Uint8Array, from = 0, length = bytes.length): number {
  let v0 = k0 | 0;
  let v1 = k1 | 0;
  let v2 = initial.v2 ^ k0;
  let v3 = initial.v3 ^ k1;
  const words = length >>> 2;
  for (let at = 0; at <= words + 1; at++) {
    // After the words the rest with the length, then the end of the message.
    const isEnd = at === words + 1;
    const word = isEnd ? 0xff : at === words ? lastWord(bytes, from, length) : wordAt(bytes, from + 4 * at);
    if (isEnd) v2 ^= word;
    else v3 ^= word;
    for (let round = isEnd ? 4 : 2; round > 0; round--) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    if (!isEnd) v0 ^= word;
  }
  return v1 ^ v3;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function lastWord(bytes: Uint8Array, from: number, length: number): number {
  const whole = length & ~3;
  let word = (length & 0xff) << 24;
  for (let at = whole; at < length; at++) word |= (bytes[from + at] as number) << (8 * (at - whole));
  return word;
}

/**
 * The hash of an endpoint: `halfSipHash` of the eight bytes of both words, little-endian. Computed for every probe
 * and every response, so it is unrolled.
 * @param host hash of the address under the same key
 * @param ports port of the host in the high half, own port in the low half
 */
export function cookie([k0, k1]: CookieKey, host: number, ports: number): number {
  let v0 = k0 | 0;
  let v1 = k1 | 0;
  let v2 = initial.v2 ^ k0;
  let v3 = initial.v3 ^ k1;
  for (let step = 0; step < 4; step++) {
    const word = step === 0 ? host : step === 1 ? ports : step === 2 ? 8 << 24 : 0;
    if (step === 3) v2 ^= 0xff;
    v3 ^= word;
    for (let round = step === 3 ? 4 : 2; round > 0; round--) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    v0 ^= word;
  }
  return v1 ^ v3;
}

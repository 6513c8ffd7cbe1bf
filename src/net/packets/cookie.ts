import { randomFillSync } from 'node:crypto';

/**
 * Keyed hashes that make a stateless sweep safe: a probe carries a hash of where it goes, and only an answer that shows
 * it counts. HalfSipHash-2-4 (Aumasson and Bernstein, https://github.com/veorq/SipHash), 32 bits out of a key of 64:
 * additions, rotations and xor of 32-bit words, which is what JavaScript numbers do fast.
 */
export type CookieKey = readonly [number, number];

export function randomCookieKey(): CookieKey {
  const words = randomFillSync(new Uint32Array(2));
  return [words[0] as number, words[1] as number];
}

/** The four words of the state, between two calls of `rounds`. */
const state = new Int32Array(4);

function begin([k0, k1]: CookieKey): void {
  state[0] = k0;
  state[1] = k1;
  state[2] = 0x6c796765 ^ k0;
  state[3] = 0x74656462 ^ k1;
}

function rounds(count: number): void {
  let v0 = state[0] as number;
  let v1 = state[1] as number;
  let v2 = state[2] as number;
  let v3 = state[3] as number;
  for (let round = 0; round < count; round++) {
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
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

function word(value: number): void {
  state[3] = (state[3] as number) ^ value;
  rounds(2);
  state[0] = (state[0] as number) ^ value;
}

function end(): number {
  state[2] = (state[2] as number) ^ 0xff;
  rounds(4);
  return ((state[1] as number) ^ (state[3] as number)) >>> 0;
}

/** The hash of bytes, 0 to 2^32 - 1. */
export function halfSipHash(key: CookieKey, bytes: Uint8Array, from = 0, length = bytes.length): number {
  begin(key);
  const whole = from + (length & ~3);
  for (let at = from; at < whole; at += 4) {
    word(
      (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24),
    );
  }
  let last = (length & 0xff) << 24;
  for (let at = whole; at < from + length; at++) last |= (bytes[at] as number) << (8 * (at - whole));
  word(last);
  return end();
}

/**
 * The hash of an endpoint: what `halfSipHash` gives for the eight bytes of both words, little-endian.
 * @param host hash of the address under the same key
 * @param ports port of the host in the high half, own port in the low half
 */
export function cookie(key: CookieKey, host: number, ports: number): number {
  begin(key);
  word(host | 0);
  word(ports | 0);
  word(8 << 24);
  return end();
}

import { plainText } from './plain-text.ts';
import type { RecognizedService } from './recognized-service.ts';

/** Characters kept of a text. */
const textLimit = 256;
/** Fields of one message that are read. */
const fieldLimit = 64;

/** The ping of Mumble: 12 bytes are asked, 24 come, the version of the server before our identifier. */
export function readMumblePing(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 24 || bytes[0] !== 0 || (bytes[1] as number) > 9) return null;
  const release = `${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return { service: 'mumble', evidence: [['mumble.release', release]], proof: `Mumble ${release}` };
}

const mumbleVersion = 0;

/** The first message of a Mumble server: type and length, then fields of a protocol buffer (Mumble.proto, Version). */
export function parseMumble(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || bytes.readUInt16BE(0) !== mumbleVersion || bytes[6] !== 0x08) return null;
  const body = bytes.subarray(6, Math.min(bytes.length, 6 + bytes.readUInt32BE(2)));
  const texts = new Map<number, string>();
  for (let at = 0, left = fieldLimit; at < body.length && left > 0; left--) {
    const key = varint(body, at);
    if (key === null) break;
    const value = varint(body, key.end);
    if (value === null) break;
    const wire = key.value & 7;
    if (wire !== 0 && wire !== 2) return null;
    at = value.end;
    if (wire === 2) {
      if (at + value.value > body.length) break;
      texts.set(key.value >> 3, plainText(body.toString('latin1', at, at + value.value), textLimit));
      at += value.value;
    }
  }
  const release = texts.get(2);
  if (release === undefined || !/^v?\d+\.\d/.test(release)) return null;
  const evidence: RecognizedService['evidence'] = [['mumble.release', release]];
  const system = [texts.get(3), texts.get(4)].filter(Boolean).join(' ');
  if (system !== '') evidence.push(['mumble.system', system]);
  return { service: 'mumble', evidence, proof: `Mumble ${release}` };
}

/** A number in groups of seven bits, at most 32 bits of it. */
function varint(bytes: Buffer, start: number): { value: number; end: number } | null {
  let value = 0;
  for (let place = 0; place < 10; place++) {
    const byte = bytes[start + place];
    if (byte === undefined) return null;
    if (place < 4) value += (byte & 0x7f) << (7 * place);
    if (byte < 0x80) return { value, end: start + place + 1 };
  }
  return null;
}

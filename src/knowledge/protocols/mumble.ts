import { plainText } from './plain-text.ts';
import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 256;
/** Maximum number of fields read from one message. */
const fieldLimit = 64;

/** Mumble ping reply: 24 bytes for a request of 12, with the server version before the request's identifier. */
export function readMumblePing(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 24 || bytes[0] !== 0 || (bytes[1] as number) > 9) return null;
  const release = `${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return recognizedBy('mumble', 'mumble.release', release, `Mumble ${release}`);
}

const mumbleVersion = 0;

/** The first message of a Mumble server: type and length, then protobuf fields (Mumble.proto, Version). */
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

/** A protobuf varint of at most 32 bits. */
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

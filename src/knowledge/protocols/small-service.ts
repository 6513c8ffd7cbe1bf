import type { BinaryService } from './binary-service.ts';

/** Characters kept of a text. */
const textLimit = 256;
/** Attributes or fields of one message that are read. */
const fieldLimit = 64;

/** Recognises small services whose answers are binary, by their form alone; null = none of them. */
export function parseSmallService(bytes: Buffer): BinaryService | null {
  return readMumble(bytes) ?? readDsi(bytes) ?? readTime(bytes);
}

/** The ping of Mumble: 12 bytes are asked, 24 come, the version of the server before our identifier. */
export function readMumblePing(bytes: Buffer): BinaryService | null {
  if (bytes.length !== 24 || bytes[0] !== 0 || (bytes[1] as number) > 9) return null;
  const release = `${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return { service: 'mumble', evidence: [['mumble.release', release]], proof: `Mumble ${release}` };
}

const mumbleVersion = 0;

/** The first message of a Mumble server: type and length, then fields of a protocol buffer (Mumble.proto, Version). */
function readMumble(bytes: Buffer): BinaryService | null {
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
      texts.set(key.value >> 3, printable(body.subarray(at, at + value.value)));
      at += value.value;
    }
  }
  const release = texts.get(2);
  if (release === undefined || !/^v?\d+\.\d/.test(release)) return null;
  const evidence: BinaryService['evidence'] = [['mumble.release', release]];
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

const dsiGetStatus = 3;

/**
 * The answer to DSIGetStatus of the Apple Filing Protocol: behind 16 bytes of header four offsets, of which the first
 * leads to the type of the machine, the second to the versions of the protocol.
 */
function readDsi(bytes: Buffer): BinaryService | null {
  if (bytes.length < 26 || bytes[0] !== 1 || bytes[1] !== dsiGetStatus || bytes.readUInt32BE(4) !== 0)
    return null;
  const body = bytes.subarray(16, Math.min(bytes.length, 16 + bytes.readUInt32BE(8)));
  if (body.length < 10) return null;
  const machine = pascalText(body, body.readUInt16BE(0));
  const versionsAt = body.readUInt16BE(2);
  const versions: string[] = [];
  for (let at = versionsAt + 1, left = Math.min(body[versionsAt] ?? 0, fieldLimit); left > 0; left--) {
    const text = pascalText(body, at);
    versions.push(text);
    at += 1 + (body[at] ?? 0);
  }
  if (machine === '' || !versions.some((version) => /^AFP|^AFPVersion/.test(version))) return null;
  const server = printable(body.subarray(11, 11 + (body[10] ?? 0)));
  const evidence: BinaryService['evidence'] = [
    ['afp.machine', machine],
    ['afp.versions', versions.join(' ').slice(0, textLimit)],
  ];
  if (server !== '') evidence.push(['afp.server', server]);
  return { service: 'afp', evidence, proof: `AFP, ${machine}` };
}

function pascalText(bytes: Buffer, at: number): string {
  return printable(bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0)));
}

/** Seconds from 1900 to 2020, and to a little before they run over in 2036. */
const timeRange = [0xe1b65f80, 0xff000000] as const;

/** RFC 868: four bytes and nothing else; some machines of 64 bits send eight. */
function readTime(bytes: Buffer): BinaryService | null {
  if (bytes.length !== 4 && !(bytes.length === 8 && bytes.readUInt32BE(4) === 0)) return null;
  const seconds = bytes.readUInt32BE(0);
  if (seconds < timeRange[0] || seconds >= timeRange[1]) return null;
  const time = new Date((seconds - 2_208_988_800) * 1000).toISOString().slice(0, 19);
  return { service: 'time', evidence: [], proof: `time ${time}Z` };
}

function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1', 0, textLimit)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}

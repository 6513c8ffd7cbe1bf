import { plainText } from './plain-text.ts';
import type { RecognizedService } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 256;
/** Maximum number of protocol versions read. */
const versionLimit = 64;

/** Recognizes the Apple Filing Protocol and the time of RFC 868 by the form of their responses; null = neither. */
export function parseClassicService(bytes: Buffer): RecognizedService | null {
  return readDsi(bytes) ?? readTime(bytes);
}

const dsiGetStatus = 3;

/**
 * DSIGetStatus response of the Apple Filing Protocol: after a 16-byte header come four offsets, the first to the
 * machine type, the second to the protocol versions.
 */
function readDsi(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 26 || bytes[0] !== 1 || bytes[1] !== dsiGetStatus || bytes.readUInt32BE(4) !== 0)
    return null;
  const body = bytes.subarray(16, Math.min(bytes.length, 16 + bytes.readUInt32BE(8)));
  if (body.length < 10) return null;
  const machine = pascalText(body, body.readUInt16BE(0));
  const versionsAt = body.readUInt16BE(2);
  const versions: string[] = [];
  for (let at = versionsAt + 1, left = Math.min(body[versionsAt] ?? 0, versionLimit); left > 0; left--) {
    const text = pascalText(body, at);
    versions.push(text);
    at += 1 + (body[at] ?? 0);
  }
  if (machine === '' || !versions.some((version) => /^AFP|^AFPVersion/.test(version))) return null;
  const server = pascalText(body, 10);
  const evidence: RecognizedService['evidence'] = [
    ['afp.machine', machine],
    ['afp.versions', versions.join(' ').slice(0, textLimit)],
  ];
  if (server !== '') evidence.push(['afp.server', server]);
  return { service: 'afp', evidence, proof: `AFP, ${machine}` };
}

function pascalText(bytes: Buffer, at: number): string {
  return plainText(bytes.toString('latin1', at + 1, at + 1 + (bytes[at] ?? 0)), textLimit);
}

/** Accepted range, seconds since 1900: from 2020 to shortly before the overflow in 2036. */
const timeRange = [0xe1b65f80, 0xff000000] as const;

/** RFC 868: exactly four bytes; some 64-bit machines send eight. */
function readTime(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 4 && !(bytes.length === 8 && bytes.readUInt32BE(4) === 0)) return null;
  const seconds = bytes.readUInt32BE(0);
  if (seconds < timeRange[0] || seconds >= timeRange[1]) return null;
  const time = new Date((seconds - 2_208_988_800) * 1000).toISOString().slice(0, 19);
  return { service: 'time', evidence: [], proof: `time ${time}Z` };
}

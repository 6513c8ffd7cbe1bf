import { gunzipSync, inflateSync } from 'node:zlib';
import { plainText } from './plain-text.ts';
import { type RecognizedService, type ResponseParser, recognizedBy } from './recognized-service.ts';

/** Maximum size of a response after decompression, bytes. */
const unpackedLimit = 16 * 1024;

/** Recognizes media and game servers by the response to the probe made for them; null = none. */
export function parseMediaService(bytes: Buffer, probe: string): RecognizedService | null {
  return readShoutcast(bytes) ?? readers.get(probe)?.(bytes) ?? null;
}

/** The status line of SHOUTcast and the notices with the name of the server, as HTML. */
function readShoutcast(bytes: Buffer): RecognizedService | null {
  const head = bytes.toString('latin1', 0, 4096);
  const status = /^ICY \d{3} [^\r\n]{0,64}/.exec(head)?.[0];
  if (status === undefined) return null;
  const notices = [...head.matchAll(/\nicy-notice\d:([^\r\n]{1,256})/g)].map(([, text = '']) =>
    plainText(text.replace(/<[^<>]{0,64}>/g, ' ')),
  );
  if (notices.length === 0) return { service: 'shoutcast', evidence: [], proof: status };
  return recognizedBy('shoutcast', 'shoutcast.notice', notices.join('\n'), notices.at(-1));
}

const readers: ReadonlyMap<string, ResponseParser> = new Map([
  ['snapcast', readSnapcast],
  ['snapcast-stream', readSnapcastTime],
  ['rtmp', readRtmp],
  ['freeciv', readFreeciv],
  ['wesnoth', readWesnoth],
  ['quassel', readQuassel],
  ['deluge', readDeluge],
]);

/** Decompressed data; null if invalid or above `unpackedLimit`. Accepts truncated input, which several servers send. */
function unpacked(packed: Buffer, unpack: typeof gunzipSync): string | null {
  try {
    const text = unpack(packed, { maxOutputLength: unpackedLimit, finishFlush: 2 });
    return text.toString('latin1');
  } catch {
    return null;
  }
}

/** The part of a Snapcast status that describes the server; clients and groups may come first. */
function readSnapcast(bytes: Buffer): RecognizedService | null {
  const found = /"snapserver":\{([^{}]{1,512})\}/.exec(bytes.toString('latin1'))?.[1];
  if (found === undefined) return null;
  return recognizedBy('snapcast', 'snapcast.server', plainText(found));
}

/** A time message (type 4) that refers to the request: 8 bytes of latency. */
function readSnapcastTime(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 26 || bytes.readUInt16LE(0) !== 4 || bytes.toString('latin1', 4, 6) !== 'PO')
    return null;
  if (bytes.readUInt32LE(22) !== 8) return null;
  return recognizedBy('snapcast', 'snapcast.stream', 'time', 'Snapcast time message');
}

/** S0 and S1, RTMP 1.0 sections 5.2.2 and 5.2.3; Adobe servers put their version where zeros should be. */
function readRtmp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 1537 || bytes[0] !== 3) return null;
  return { service: 'rtmp', evidence: [], proof: `RTMP handshake, ${[...bytes.subarray(5, 9)].join('.')}` };
}

/** Packet sizes from here on mean a compressed packet. */
const freecivPacked = 16_384;
const freecivJumbo = 0xffff;

/** The rejection of a client, compressed or not: its text names the server version. */
function readFreeciv(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 4) return null;
  const size = bytes.readUInt16BE(0);
  const packed = size >= freecivPacked ? bytes.subarray(size === freecivJumbo ? 6 : 2) : null;
  const text = packed === null ? bytes.toString('latin1', 0, unpackedLimit) : unpacked(packed, inflateSync);
  const version = /Server version: ([\w.+-]{1,64})/.exec(text ?? '')?.[1];
  if (version === undefined) return null;
  return recognizedBy('freeciv', 'freeciv.version', version, `Server version: ${version}`);
}

/** The connection number, then length and compressed text: a version request or a rejection. */
function readWesnoth(bytes: Buffer): RecognizedService | null {
  const texts: string[] = [];
  for (let at = 4; at + 4 <= bytes.length && texts.length < 4; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const text = unpacked(bytes.subarray(at + 4, end), gunzipSync);
    if (text === null) break;
    texts.push(text);
    at = end;
  }
  const text = texts.join('\n');
  if (!/\[(?:version|reject|mustlogin)\]/.test(text)) return null;
  const versions = /accepted_versions="([^"\n]{1,256})"/.exec(text)?.[1];
  const evidence: RecognizedService['evidence'] = versions ? [['wesnoth.versions', plainText(versions)]] : [];
  return { service: 'wesnoth', evidence, proof: plainText(text.split('\n', 1)[0] ?? '') || 'wesnoth' };
}

const quasselProtocols: Record<number, string> = { 1: 'legacy', 2: 'data stream' };

/** Connection flags, protocol flags and the selected protocol. */
function readQuassel(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 4 || (bytes[0] as number) > 3) return null;
  const protocol = quasselProtocols[bytes[3] as number];
  if (protocol === undefined) return null;
  return recognizedBy('quassel', 'quassel.protocol', protocol, `protocol ${protocol}`);
}

/** Response to `daemon.info`: a list of message type, call number and version text. */
function readDeluge(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || bytes[0] !== 1) return null;
  const text = unpacked(bytes.subarray(5), inflateSync);
  if (text === null || !/^[\xc0-\xff]/.test(text)) return null;
  const version = /^\xc3\x01\x01[\x80-\xbf](\d[\w.+-]{1,62})$/.exec(text)?.[1];
  const evidence: RecognizedService['evidence'] = version ? [['deluge.version', version]] : [];
  return { service: 'deluge', evidence, proof: version ? `daemon.info ${version}` : 'Deluge response' };
}

import { plainText } from './plain-text.ts';
import { type RecognizedService, type ResponseParser, recognizedBy } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 512;

/** Recognizes instruments, buses and debuggers by the response to the probe made for them; null = none. */
export function parseInstrument(bytes: Buffer, probe: string): RecognizedService | null {
  return readers.get(probe)?.(bytes) ?? null;
}

const readers: ReadonlyMap<string, ResponseParser> = new Map([
  ['owserver', readOwserver],
  ['hamlib', readHamlib],
  ['eibd', readEibd],
  ['gdb-remote', readGdb],
  ['usbip', readUsbip],
  ['sane', readSane],
  ['moosefs', readMoosefs],
  ['rpki-rtr', readRpki],
]);

/** Version 0, length, result, flags, size, offset; then the data read, here the version. */
function readOwserver(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0) return null;
  const [length, result] = [bytes.readUInt32BE(4), bytes.readInt32BE(8)];
  if (length > 8192 || bytes.length > 24 + length || result > 8192) return null;
  const text = plainText(bytes.toString('latin1', 24, 24 + Math.min(length, textLimit)));
  if (text === '') return { service: 'owserver', evidence: [], proof: `owserver result ${result}` };
  return recognizedBy('owserver', 'owserver.version', text, `owserver ${text}`);
}

/** The echoed command and its response, or an error number. */
function readHamlib(bytes: Buffer): RecognizedService | null {
  const line = /^(?:get_info:|RPRT -?\d{1,4})/.exec(bytes.toString('latin1', 0, 64))?.[0];
  return line === undefined ? null : recognizedBy('hamlib', 'hamlib.answer', line);
}

/** EIB_INVALID_REQUEST after its length. */
function readEibd(bytes: Buffer): RecognizedService | null {
  if (bytes.toString('hex') !== '00020000') return null;
  return recognizedBy('eibd', 'eibd.answer', 'invalid request', 'EIB_INVALID_REQUEST');
}

/** A packet with the features of the stub, after acknowledgments. */
function readGdb(bytes: Buffer): RecognizedService | null {
  const features = /^[+-]*\$([^#$]{0,4000})#[0-9a-f]{2}/i.exec(bytes.toString('latin1', 0, 4096))?.[1];
  if (features === undefined) return null;
  const text = plainText(features);
  return recognizedBy('gdb-remote', 'gdb.features', text, text || 'a packet of GDB');
}

/** OP_REP_DEVLIST: version, code 5, status, number of devices. */
function readUsbip(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || bytes[0] !== 1 || bytes.readUInt16BE(2) !== 5) return null;
  const version = bytes.readUInt16BE(0).toString(16);
  const devices = bytes.length >= 12 ? bytes.readUInt32BE(8) : 0;
  return recognizedBy('usbip', 'usbip.version', version, `USB/IP ${version}, ${devices} devices`);
}

/** The status and, if the server accepts the client, the protocol version: 1.x.y. */
function readSane(bytes: Buffer): RecognizedService | null {
  if (bytes.length !== 8) return null;
  const [status, major] = [bytes.readUInt32BE(0), bytes[4] as number];
  if (status > 11 || major !== 1) return null;
  const version = `${major}.${bytes[5]}.${bytes.readUInt16BE(6)}`;
  return recognizedBy('sane', 'sane.protocol', version, `SANE protocol ${version}`);
}

/** ANTOAN_VERSION: type 11, length, request id, the version in three numbers and, since 3.0, also as text. */
function readMoosefs(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 16 || bytes.readUInt32BE(0) !== 11 || bytes.readUInt32BE(8) !== 0x504f) return null;
  const numbers = `${bytes.readUInt16BE(12)}.${bytes[14]}.${bytes[15]}`;
  const text = plainText(bytes.toString('latin1', 16, 16 + textLimit));
  const version = /^\d+\.\d/.test(text) ? text : numbers;
  return recognizedBy('moosefs', 'moosefs.version', version, `MooseFS ${version}`);
}

const rpkiKinds: Record<number, string> = { 0: 'notify', 3: 'response', 8: 'reset', 10: 'error' };

/** A message of RFC 6810 or 8210: version, type, session or code, length; an error embeds the request and a text. */
function readRpki(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || (bytes[0] as number) > 2) return null;
  const kind = rpkiKinds[bytes[1] as number];
  const length = bytes.readUInt32BE(4);
  if (kind === undefined || length < 8 || length > 65_536) return null;
  const evidence: RecognizedService['evidence'] = [['rpki.answer', kind]];
  if (kind === 'error' && bytes.length >= 16) {
    const textAt = 12 + bytes.readUInt32BE(8) + 4;
    const text = plainText(bytes.toString('latin1', textAt, textAt + textLimit));
    if (text !== '') evidence.push(['rpki.error', text]);
  }
  return { service: 'rpki-rtr', evidence, proof: evidence.map(([, text]) => text).join(': ') };
}

import { isBacnet, isFinsResponse, isIdentity } from '../requests/control-requests.ts';
import { plainText } from './plain-text.ts';
import { type RecognizedService, type ResponseParser, recognizedBy } from './recognized-service.ts';

/** Responses of control systems to their own requests. */

/** Recognizes a control system by the response to its probe; null = another service. */
export function parseControlSystem(bytes: Buffer, probe: string): RecognizedService | null {
  return Object.hasOwn(readers, probe) ? (readers[probe]?.(bytes) ?? null) : null;
}

const readers: Readonly<Record<string, ResponseParser>> = {
  modbus: readModbus,
  'modbus-unit': readModbus,
  'iso-tsap': readIsoTsap,
  'ethernet-ip': readEthernetIp,
  'iec-104': readIec104,
  dnp3: readDnp3,
  'niagara-fox': readFox,
  fins: readFinsTcp,
};

/** Response to Read Device Identification (Modbus Application Protocol section 6.21), or an exception response. */
function readModbus(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 9 || bytes.readUInt16BE(2) !== 0) return null;
  const length = bytes.readUInt16BE(4);
  const code = bytes[7] as number;
  if (length < 3 || length > 254 || (code & 0x7f) !== 0x2b) return null;
  if (code !== 0x2b) {
    const proof = `exception ${bytes[8]} to Read Device Identification`;
    return { service: 'modbus', evidence: [], proof };
  }
  const lines = modbusObjects(bytes.subarray(8, 6 + length));
  if (lines.length === 0) return { service: 'modbus', evidence: [], proof: 'device identification' };
  return recognizedBy('modbus', 'modbus.identity', lines.join('\n'), lines.join(', '));
}

const modbusNames = ['vendor', 'product_code', 'revision', 'url', 'product', 'model', 'application'];

/** After type, code, conformity, more-follows and next id comes the object count; each object: id, length, text. */
function modbusObjects(body: Buffer): string[] {
  const lines: string[] = [];
  let at = 6;
  for (let left = Math.min(body[5] ?? 0, 16); left > 0 && at + 2 <= body.length; left--) {
    const size = body[at + 1] as number;
    const text = plainText(body.toString('latin1', at + 2, at + 2 + size));
    const name = modbusNames[body[at] as number];
    if (name && text !== '') lines.push(`${name}: ${text}`);
    at += 2 + size;
  }
  return lines;
}

/** Connection confirm or disconnect request of ISO 8073 that repeats our reference. */
function readIsoTsap(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 11 || bytes[0] !== 3 || bytes.toString('latin1', 6, 8) !== 'PO') return null;
  const kind = { 0xd0: 'connection confirm', 0x80: 'disconnect request' }[bytes[5] as number];
  return kind ? { service: 'iso-tsap', evidence: [], proof: `ISO 8073 ${kind}` } : null;
}

/** Offset of the vendor in the response to ListIdentity: header, item, version and socket address. */
const identityAt = 24 + 2 + 4 + 2 + 16;

/** The identity item of EtherNet/IP (CIP volume 2, section 2-4.2.3). */
export function readEthernetIp(bytes: Buffer): RecognizedService | null {
  if (!isIdentity(bytes)) return null;
  if (bytes.length < identityAt + 15) return { service: 'ethernet-ip', evidence: [], proof: 'ListIdentity' };
  const name = plainText(
    bytes.toString('latin1', identityAt + 15, identityAt + 15 + (bytes[identityAt + 14] ?? 0)),
  );
  const lines = [
    ...(name === '' ? [] : [`product: ${name}`]),
    `vendor: ${bytes.readUInt16LE(identityAt)}`,
    `revision: ${bytes[identityAt + 6]}.${bytes[identityAt + 7]}`,
    `serial: ${bytes.readUInt32LE(identityAt + 10)}`,
  ];
  return recognizedBy('ethernet-ip', 'ethernet-ip.identity', lines.join('\n'), lines.join(', '));
}

function readIec104(bytes: Buffer): RecognizedService | null {
  if (bytes.toString('hex', 0, 6) !== '680483000000') return null;
  return { service: 'iec-104', evidence: [], proof: 'TESTFR con' };
}

/** A link layer frame for our address (IEEE 1815 section 9.2). */
function readDnp3(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 10 || bytes[0] !== 5 || bytes[1] !== 0x64) return null;
  if (bytes.toString('latin1', 4, 6) !== 'PO') return null;
  const address = bytes.readUInt16LE(6);
  return recognizedBy('dnp3', 'dnp3.address', String(address), `link status of address ${address}`);
}

/** Members of a Fox hello that name the station. */
const foxNames = ['hostName', 'app.name', 'app.version', 'os.name', 'os.version', 'brandId'];

function readFox(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 4096);
  if (!/^fox a \d/.test(text)) return null;
  const lines = foxNames.flatMap((name) => {
    const start = text.indexOf(`\n${name}=s:`);
    if (start < 0) return [];
    const value = plainText(text.slice(start + name.length + 4).split('\n', 1)[0] ?? '', 128);
    return value === '' ? [] : [`${name}: ${value}`];
  });
  if (lines.length === 0) return { service: 'niagara-fox', evidence: [], proof: 'Fox hello' };
  return recognizedBy('niagara-fox', 'fox.hello', lines.join('\n'), lines.join(', '));
}

function readFinsTcp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 16 || bytes.toString('latin1', 0, 4) !== 'FINS') return null;
  return { service: 'fins', evidence: [], proof: 'FINS/TCP node address' };
}

/** Model and version, 20 characters each, after the completion code. */
export function readFins(bytes: Buffer): RecognizedService | null {
  if (!isFinsResponse(bytes)) return null;
  const [model, version] = [
    plainText(bytes.toString('latin1', 14, 34)),
    plainText(bytes.toString('latin1', 34, 54)),
  ];
  const lines = [...(model ? [`model: ${model}`] : []), ...(version ? [`version: ${version}`] : [])];
  if (lines.length === 0) return { service: 'fins', evidence: [], proof: 'response to Controller Data Read' };
  return recognizedBy('fins', 'fins.controller', lines.join('\n'), lines.join(', '));
}

/** Response to ReadProperty of the vendor name: the text, an error, a rejection or an abort. */
export function readBacnet(bytes: Buffer): RecognizedService | null {
  if (!isBacnet(bytes)) return null;
  // Opening tag 3, a character string of extended length, its character set.
  const at = bytes.indexOf(Buffer.from([0x3e, 0x75]));
  const size = at < 0 ? 0 : (bytes[at + 2] ?? 0);
  const vendor = size > 1 && size < 254 ? plainText(bytes.toString('utf8', at + 4, at + 3 + size)) : '';
  if (vendor === '') return { service: 'bacnet', evidence: [], proof: 'BACnet/IP message' };
  return recognizedBy('bacnet', 'bacnet.vendor', vendor, `vendor ${vendor}`);
}

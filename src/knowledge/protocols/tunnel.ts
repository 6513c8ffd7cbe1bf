import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Payloads and attributes of one message. */
const payloadLimit = 64;
/** Maximum size of a vendor id, bytes. */
const vendorIdLimit = 64;
/** Maximum length of a text, characters. */
const textLimit = 128;

const isakmpHeader = 28;
const vendorId1 = 13;
const vendorId2 = 43;

/**
 * An IKE response, version 1 (RFC 2408 section 3) or 2 (RFC 7296 section 3), on port 4500 after four zero bytes:
 * its vendor ids, most of them hashes. Null = not IKE.
 */
export function readIke(datagram: Buffer): RecognizedService | null {
  const bytes = datagram.length >= 4 && datagram.readUInt32BE(0) === 0 ? datagram.subarray(4) : datagram;
  if (bytes.length < isakmpHeader || bytes.readUInt32BE(24) > bytes.length) return null;
  const major = (bytes[17] as number) >> 4;
  if (major !== 1 && major !== 2) return null;
  const vendor = major === 1 ? vendorId1 : vendorId2;
  const ids: string[] = [];
  let next = bytes[16] as number;
  for (
    let at = isakmpHeader, count = 0;
    next !== 0 && count < payloadLimit && at + 4 <= bytes.length;
    count++
  ) {
    const length = bytes.readUInt16BE(at + 2);
    if (length < 4 || at + length > bytes.length) break;
    if (next === vendor)
      ids.push(vendorText(bytes.subarray(at + 4, at + Math.min(length, 4 + vendorIdLimit))));
    next = bytes[at] as number;
    at += length;
  }
  const evidence: RecognizedService['evidence'] = [['ike.version', String(major)]];
  if (ids.length > 0) evidence.push(['ike.vendor-ids', ids.join('\n')]);
  const proof = `IKE version ${major}${ids.length > 0 ? `, vendor ids ${ids.join(' ')}` : ''}`;
  return { service: 'isakmp', evidence, proof };
}

/** A textual vendor id as is, any other in hexadecimal. */
function vendorText(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e]{5,}$/.test(text) ? text : bytes.toString('hex');
}

const attributeHost = 7;
const attributeVendor = 8;
const attributeFirmware = 6;
const attributeMessage = 0;
const startReply = 2;

/** Start-Control-Connection-Reply of L2TP, RFC 2661 section 6.2, or the bare acknowledgment. Null = not L2TP. */
export function readL2tp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 12 || ((bytes[0] as number) & 0xc8) !== 0xc8 || ((bytes[1] as number) & 0x0f) !== 2)
    return null;
  const end = Math.min(bytes.length, bytes.readUInt16BE(2));
  const pairs = new Map<number, Buffer>();
  for (let at = 12, count = 0; at + 6 <= end && count < payloadLimit; count++) {
    const length = bytes.readUInt16BE(at) & 0x3ff;
    if (length < 6 || at + length > end) break;
    const own = bytes.readUInt16BE(at + 2) === 0;
    if (own) pairs.set(bytes.readUInt16BE(at + 4), bytes.subarray(at + 6, at + length));
    at += length;
  }
  const message = pairs.get(attributeMessage);
  if (message?.length === 2 && message.readUInt16BE(0) !== startReply)
    return { service: 'l2tp', evidence: [], proof: `L2TP message ${message.readUInt16BE(0)}` };
  return tunnelServer(
    'l2tp',
    pairs.get(attributeHost),
    pairs.get(attributeVendor),
    pairs.get(attributeFirmware),
  );
}

/** Start-Control-Connection-Reply of PPTP, RFC 2637 section 2.2. Null = not PPTP. */
export function readPptp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 16 || bytes.readUInt32BE(4) !== 0x1a2b3c4d || bytes.readUInt16BE(2) !== 1) return null;
  if (bytes.readUInt16BE(8) !== 2) return null;
  return tunnelServer('pptp', bytes.subarray(28, 92), bytes.subarray(92, 156), bytes.subarray(26, 28));
}

function tunnelServer(service: string, host?: Buffer, vendor?: Buffer, firmware?: Buffer): RecognizedService {
  const fields: [string, string][] = [];
  const put = (key: string, bytes: Buffer | undefined) => {
    const text = /^[\x20-\x7e]+/.exec(bytes?.toString('latin1', 0, textLimit) ?? '')?.[0];
    if (text) fields.push([key, text]);
  };
  put('host', host);
  put('vendor', vendor);
  const number = firmware?.length === 2 ? firmware.readUInt16BE(0) : 0;
  if (number > 0) fields.push(['firmware', number.toString(16).padStart(4, '0')]);
  const lines = fields.map(([key, text]) => `${key}: ${text}`);
  const evidence: RecognizedService['evidence'] =
    lines.length > 0 ? [[`${service}.names`, lines.join('\n')]] : [];
  return { service, evidence, proof: lines.join(', ') || `${service.toUpperCase()} response` };
}

const hardResetServer2 = 8;

/**
 * OpenVPN reply to a reset: P_CONTROL_HARD_RESET_SERVER_V2, which acknowledges the client's packet 0. Over TCP with a
 * two-byte length prefix. Null = anything else.
 */
export function readOpenVpn(message: Buffer, protocol: 'tcp' | 'udp'): RecognizedService | null {
  const bytes = protocol === 'tcp' ? message.subarray(2) : message;
  if (protocol === 'tcp' && (message.length < 2 || message.readUInt16BE(0) !== bytes.length)) return null;
  if (bytes.length < 14 || bytes.length > 64 || (bytes[0] as number) >> 3 !== hardResetServer2) return null;
  return recognizedBy('openvpn', 'openvpn.answer', 'hard reset', 'P_CONTROL_HARD_RESET_SERVER_V2');
}

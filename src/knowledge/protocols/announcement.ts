import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Maximum length of one value, characters. */
const valueLimit = 256;
/** Maximum length of one text, characters. */
const textLimit = 1024;
/** Attributes of one message. */
const attributeLimit = 64;

/** Headers of an M-SEARCH response, UPnP Device Architecture 2.0 section 1.3.3. Null = not such a response. */
export function readSsdp(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 4096);
  if (!/^HTTP\/1\.[01] 200\b/.test(text) && !text.startsWith('NOTIFY * ')) return null;
  const evidence: RecognizedService['evidence'] = [];
  for (const name of ['server', 'location', 'st', 'usn']) {
    const value = new RegExp(`^${name}[ \\t]*:[ \\t]*([\\x20-\\x7e]{1,${valueLimit}})`, 'im').exec(text)?.[1];
    if (value) evidence.push([`ssdp.${name}`, value.trim()]);
  }
  const server = evidence.find(([key]) => key === 'ssdp.server')?.[1];
  return { service: 'ssdp', evidence, proof: server ?? text.split('\r\n', 1)[0] ?? '' };
}

/** ProbeMatches of WS-Discovery 1.0 or 1.1: device types and the addresses of their metadata. Null = anything else. */
export function readWsDiscovery(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 16_384);
  if (!/^\s*</.test(text) || !/[:<]Envelope[\s>]/.test(text)) return null;
  const evidence: RecognizedService['evidence'] = [];
  for (const name of ['Types', 'Scopes', 'XAddrs', 'Address']) {
    const value = new RegExp(`<(?:[\\w.-]{1,32}:)?${name}\\b[^<>]{0,256}>([^<>]{1,${textLimit}})<`).exec(
      text,
    )?.[1];
    if (value?.trim()) evidence.push([`wsd.${name.toLowerCase()}`, value.trim().replace(/\s+/g, ' ')]);
  }
  const types = evidence.find(([key]) => key === 'wsd.types')?.[1];
  return { service: 'ws-discovery', evidence, proof: types ?? 'an envelope of WS-Discovery' };
}

const stunCookie = 0x2112a442;
const stunSoftware = 0x8022;

/** A response of STUN, RFC 8489 sections 5 and 14.14: SOFTWARE names the server. Null = not STUN. */
export function readStun(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 20 || bytes.readUInt32BE(4) !== stunCookie) return null;
  const type = bytes.readUInt16BE(0);
  const length = bytes.readUInt16BE(2);
  if ((type & 0xc000) !== 0 || (type & 0x0100) === 0 || length % 4 !== 0) return null;
  const end = Math.min(bytes.length, 20 + length);
  for (let at = 20, count = 0; at + 4 <= end && count < attributeLimit; count++) {
    const size = bytes.readUInt16BE(at + 2);
    if (bytes.readUInt16BE(at) === stunSoftware && at + 4 + size <= end) {
      const software = bytes
        .toString('latin1', at + 4, at + 4 + Math.min(size, valueLimit))
        .replace(/(?<!\0)\0+$/, '');
      return recognizedBy('stun', 'stun.software', software, `SOFTWARE: ${software}`);
    }
    at += 4 + Math.ceil(size / 4) * 4;
  }
  return { service: 'stun', evidence: [], proof: `STUN message ${type.toString(16).padStart(4, '0')}` };
}

/** A CoAP response (RFC 7252 section 3): its payload, for /.well-known/core the list of resources. */
export function readCoap(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 4 || (bytes[0] as number) >> 6 !== 1) return null;
  const [token, code] = [(bytes[0] as number) & 15, bytes[1] as number];
  // An empty message, success, client error or server error.
  if (token > 8 || ![0, 2, 4, 5].includes(code >> 5)) return null;
  const mark = bytes.indexOf(0xff, 4 + token);
  const payload = mark === -1 ? '' : bytes.toString('latin1', mark + 1, mark + 1 + textLimit);
  const name = `${code >> 5}.${String(code & 31).padStart(2, '0')}`;
  if (payload === '') return { service: 'coap', evidence: [], proof: `CoAP ${name}` };
  return recognizedBy('coap', 'coap.payload', payload);
}

/** Willing or Unwilling of XDMCP: host name and status text. Null = not XDMCP. */
export function readXdmcp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 6 || bytes.readUInt16BE(0) !== 1) return null;
  const opcode = bytes.readUInt16BE(2);
  if (opcode !== 5 && opcode !== 6) return null;
  const texts: string[] = [];
  for (let at = 6; at + 2 <= bytes.length && texts.length < 3; ) {
    const length = bytes.readUInt16BE(at);
    texts.push(bytes.toString('latin1', at + 2, at + 2 + Math.min(length, valueLimit)));
    at += 2 + length;
  }
  // Willing starts with the authentication name.
  const [host = '', status = ''] = opcode === 5 ? texts.slice(1) : texts;
  const evidence: RecognizedService['evidence'] = [];
  if (host !== '') evidence.push(['xdmcp.host', host]);
  if (status !== '') evidence.push(['xdmcp.status', status]);
  return {
    service: 'xdmcp',
    evidence,
    proof: `${opcode === 5 ? 'willing' : 'unwilling'}: ${host} ${status}`.trim(),
  };
}

/** SVR_RESP of the SQL Server browser, MC-SQLR section 2.2.5: a list of names and values. Null = anything else. */
export function readSqlBrowser(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 4 || bytes[0] !== 5) return null;
  const text = bytes.toString('latin1', 3, 3 + Math.min(bytes.readUInt16LE(1), textLimit));
  if (!text.startsWith('ServerName;')) return null;
  const evidence: RecognizedService['evidence'] = [['mssql.instances', text]];
  const version = /;Version;(\d[\d.]{1,30});/.exec(text)?.[1];
  if (version) evidence.push(['mssql.version', version]);
  return { service: 'ms-sql-m', evidence, proof: text };
}

/** A QUIC Version Negotiation packet (RFC 9000 section 17.2.1). Null = anything else. */
export function readQuic(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 7 || (bytes[0] as number) < 0x80 || bytes.readUInt32BE(1) !== 0) return null;
  const first = 6 + (bytes[5] as number);
  const second = first + 1 + (bytes[first] ?? 256);
  if (second > bytes.length || (bytes.length - second) % 4 !== 0) return null;
  const versions: string[] = [];
  for (let at = second; at + 4 <= bytes.length && versions.length < attributeLimit; at += 4)
    versions.push(bytes.toString('hex', at, at + 4));
  if (versions.length === 0) return null;
  return recognizedBy('quic', 'quic.versions', versions.join(' '), `versions ${versions.join(' ')}`);
}

const dtlsVersions: Readonly<Record<number, string>> = { 0xfeff: 'DTLSv1.0', 0xfefd: 'DTLSv1.2' };
const dtlsMessages: Readonly<Record<number, string>> = { 2: 'ServerHello', 3: 'HelloVerifyRequest' };

/** The first record of a DTLS server (RFC 6347 section 4.1): an alert, a ServerHello or a HelloVerifyRequest. */
export function readDtls(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 15) return null;
  const version = dtlsVersions[bytes.readUInt16BE(1)];
  if (!version || bytes.readUInt16BE(11) > bytes.length - 13) return null;
  const message = bytes[0] === 22 ? dtlsMessages[bytes[13] as number] : bytes[0] === 21 ? 'alert' : undefined;
  if (!message) return null;
  return recognizedBy('dtls', 'dtls.answer', `${version} ${message}`);
}

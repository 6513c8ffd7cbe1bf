import { plainText } from './plain-text.ts';
import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 512;
/** Maximum number of options, entries, attributes and values read. */
const entryLimit = 64;

/** Recognizes directories and databases by the response to the probe made for them; null = none. */
export function parseNetworkService(bytes: Buffer, probe: string): RecognizedService | null {
  return (
    readSmbSession(bytes) ??
    readCredSsp(bytes) ??
    readTds(bytes) ??
    readTns(bytes) ??
    readLdap(bytes) ??
    (probe === 'cassandra' ? readCassandra(bytes) : null) ??
    (probe === 'kafka' ? readKafka(bytes) : null) ??
    (probe === 'kerberos' || isKerberosError(bytes) ? readKerberos(bytes, 4) : null) ??
    (probe === 'udp-kerberos' ? readKerberos(bytes, 0) : null) ??
    (probe === 'msrpc' ? readDceRpc(bytes) : null) ??
    (probe === 'firebird' ? readFirebird(bytes) : null) ??
    (probe === 'gearman' ? readGearman(bytes) : null)
  );
}

/** Options of a PRELOGIN response (MS-TDS section 2.2.6.5): token, offset and length, ended by 0xff. */
function readTds(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 14 || bytes[0] !== 4 || bytes[1] !== 1 || bytes.readUInt16BE(2) > 4096) return null;
  const body = bytes.subarray(8, bytes.readUInt16BE(2));
  const options = new Map<number, Buffer>();
  for (let at = 0; at + 5 <= body.length && body[at] !== 0xff && options.size < entryLimit; at += 5) {
    const [offset, length] = [body.readUInt16BE(at + 1), body.readUInt16BE(at + 3)];
    options.set(body[at] as number, body.subarray(offset, offset + length));
  }
  const version = options.get(0);
  if (!version || version.length < 4) return null;
  const text = `${version[0]}.${version[1]}.${version.readUInt16BE(2)}`;
  const evidence: RecognizedService['evidence'] = [['mssql.version', text]];
  const encryption = options.get(1)?.[0];
  if (encryption !== undefined) evidence.push(['mssql.encryption', encryptionNames[encryption] ?? 'unknown']);
  return { service: 'mssql', evidence, proof: `prelogin: version ${text}` };
}

const encryptionNames = ['off', 'on', 'not supported', 'required'];

const tnsTypes: Record<number, string> = { 2: 'accept', 4: 'refuse', 5: 'redirect', 6: 'data', 11: 'resend' };

/** A packet of the Transparent Network Substrate: length, checksum, type; REFUSE carries a description. */
function readTns(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 8 || bytes[2] !== 0 || bytes[3] !== 0 || bytes[5] !== 0) return null;
  const type = tnsTypes[bytes[4] as number];
  const length = bytes.readUInt16BE(0);
  if (!type || length < 8 || length > bytes.length) return null;
  const text = bytes.toString('latin1', 8, 4096);
  const described = /\(DESCRIPTION=[\x20-\x7e]*/.exec(text)?.[0].slice(0, textLimit);
  const banner = /TNSLSNR for [\x20-\x7e]*/.exec(text)?.[0].slice(0, textLimit);
  if (!described && !banner) return null;
  const evidence: RecognizedService['evidence'] = [['oracle.answer', banner ?? described ?? '']];
  const number = /VSNNUM=(\d{1,10})/.exec(described ?? '')?.[1];
  if (number) evidence.push(['oracle.version', versionOfNumber(Number(number))]);
  return { service: 'oracle-tns', evidence, proof: banner ?? described ?? '' };
}

/** VSNNUM: 8, 4, 8, 4, 8 bits; since version 18 the second number has 8 bits. */
function versionOfNumber(number: number): string {
  const major = number >>> 24;
  if (major >= 18) return `${major}.${(number >>> 16) & 0xff}`;
  const parts = [major, (number >>> 20) & 0xf, (number >>> 12) & 0xff, (number >>> 8) & 0xf, number & 0xff];
  return parts.join('.');
}

interface Element {
  tag: number;
  body: Buffer;
  end: number;
}

function berElement(bytes: Buffer, at: number): Element | null {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return null;
  const size = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || size > 4 || bytes.length < at + 2 + size) return null;
  const length = size === 0 ? first : bytes.readUIntBE(at + 2, size);
  const start = at + 2 + size;
  return { tag, body: bytes.subarray(start, start + length), end: start + length };
}

function berElements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length && found.length < entryLimit; ) {
    const next = berElement(bytes, at);
    if (!next) break;
    found.push(next);
    at = next.end;
  }
  return found;
}

const searchEntry = 0x64;

/** Messages of LDAP (RFC 4511 section 4.1.1): search result entries and operation results. */
function readLdap(bytes: Buffer): RecognizedService | null {
  const lines: string[] = [];
  let evidence: string | null = null;
  for (const message of berElements(bytes)) {
    const [id, operation] = message.tag === 0x30 ? berElements(message.body) : [];
    if (id?.tag !== 0x02 || id.body.length > 4 || !operation) break;
    if (![0x61, searchEntry, 0x65, 0x78].includes(operation.tag)) break;
    evidence ??= `LDAP message ${operation.tag & 0x1f}`;
    if (operation.tag === searchEntry) lines.push(...attributesOf(operation.body));
  }
  if (evidence === null) return null;
  const text = lines.join('\n').slice(0, 4 * textLimit);
  return {
    service: 'ldap',
    evidence: text === '' ? [] : [['ldap.rootdse', text]],
    proof: lines.find((line) => /vendor|DSE|Functionality/i.test(line)) ?? lines[0] ?? evidence,
  };
}

/** `name: value` for each value of a search entry. */
function attributesOf(entry: Buffer): string[] {
  const list = berElements(entry)[1];
  const lines: string[] = [];
  for (const attribute of list ? berElements(list.body) : []) {
    const [name, values] = berElements(attribute.body);
    for (const value of values ? berElements(values.body) : []) {
      const text = `${name?.body.toString('latin1', 0, 64)}: ${value.body.toString('latin1', 0, 128)}`;
      if (lines.length < entryLimit) lines.push(text.replace(/[^\x20-\x7e]/g, '?'));
    }
  }
  return lines;
}

/** SUPPORTED or ERROR of the native protocol (section 4.2): a multimap of texts. */
function readCassandra(bytes: Buffer): RecognizedService | null {
  const version = bytes[0] ?? 0;
  if (bytes.length < 9 || version < 0x81 || version > 0x86) return null;
  const isError = bytes[4] === 0;
  if (!isError && bytes[4] !== 6) return null;
  const text = plainText(bytes.toString('latin1', 9, 4096), textLimit);
  const language = /\bCQL_VERSION (?:\W )?(\d+\.\d+\.\d+)/.exec(text)?.[1];
  const evidence: RecognizedService['evidence'] = [['cassandra.options', text]];
  if (language) evidence.push(['cassandra.cql', language]);
  return { service: 'cassandra', evidence, proof: language ? `CQL_VERSION ${language}` : text };
}

/** The response carries the request id, an error code and a list of API keys with lowest and highest version. */
function readKafka(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 14 || bytes.toString('latin1', 4, 8) !== '\0\0PO') return null;
  const [error, count] = [bytes.readInt16BE(8), bytes.readUInt32BE(10)];
  if ((error !== 0 && error !== 35) || count > 500) return null;
  return recognizedBy('kafka', 'kafka.calls', String(count), `ApiVersions: ${count} calls`);
}

/** A complete KRB-ERROR of version 5 with its length: servers send it for any request they cannot parse. */
function isKerberosError(bytes: Buffer): boolean {
  if (bytes.length < 16 || bytes.readUInt32BE(0) !== bytes.length - 4 || bytes[4] !== 0x7e) return false;
  const inner = berElement(bytes, 4);
  const list = inner && berElement(inner.body, 0);
  return list?.tag === 0x30 && list.body.toString('hex', 0, 10) === 'a003020105a10302011e';
}

/**
 * KRB-ERROR or AS-REP (RFC 4120 sections 5.4.2 and 5.9.1), over TCP with a 32-bit length prefix: the realm, unless
 * it only repeats the one of the request, the error and its text.
 */
function readKerberos(bytes: Buffer, at: number): RecognizedService | null {
  const message = berElement(bytes, at);
  if (!message || (message.tag !== 0x7e && message.tag !== 0x6b)) return null;
  const fields = berElements(berElement(message.body, 0)?.body ?? Buffer.alloc(0));
  const inner = (tag: number) => {
    const field = fields.find((each) => each.tag === tag);
    return field ? (berElement(field.body, 0)?.body ?? null) : null;
  };
  const name = inner(0xa9)?.toString('latin1', 0, 128) ?? '';
  const realm = /^[\x20-\x7e]+$/.test(name) && name !== 'PORTOLAN.INVALID' ? name : null;
  const evidence: RecognizedService['evidence'] = realm === null ? [] : [['kerberos.realm', realm]];
  const code = message.tag === 0x7e ? inner(0xa6) : null;
  if (code && code.length > 0 && code.length <= 4) {
    const text = plainText(inner(0xab)?.toString('latin1', 0, 256) ?? '');
    evidence.push(['kerberos.error', `${code.readUIntBE(0, code.length)} ${text}`.trim()]);
    // Only some servers include an unknown client name in the response.
    if (text === '' && inner(0xa8)) evidence.push(['kerberos.client', 'named, without a text']);
  }
  const proof = evidence.map(([key, text]) => `${key.slice(9)} ${text}`).join(', ');
  // A password server names itself as the requested service.
  const isPassword = inner(0xaa)?.includes('changepw') ?? false;
  const service = isPassword ? 'kpasswd' : 'kerberos';
  return { service, evidence, proof: proof || 'Kerberos 5 response' };
}

const bindAck = 12;
const bindNak = 13;

function readDceRpc(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 24 || bytes[0] !== 5 || (bytes[2] !== bindAck && bytes[2] !== bindNak)) return null;
  const what = bytes[2] === bindAck ? 'bind_ack' : 'bind_nak';
  return recognizedBy('msrpc', 'msrpc.answer', what, `DCE/RPC ${what}`);
}

const firebirdOperations: Record<number, string> = {
  3: 'accept',
  4: 'reject',
  94: 'accept data',
  98: 'conditional accept',
};

/** op_accept and its relatives: the operation, then the protocol version with the flag 0x8000. */
function readFirebird(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 4) return null;
  const operation = firebirdOperations[bytes.readUInt32BE(0)];
  if (!operation) return null;
  if (operation === 'reject') return { service: 'firebird', evidence: [], proof: 'connect rejected' };
  const version = bytes.length >= 8 ? bytes.readUInt32BE(4) & 0x7fff : 0;
  if (version < 10 || version > 30) return null;
  return recognizedBy('firebird', 'firebird.protocol', String(version), `${operation}, protocol ${version}`);
}

const avNames: Record<number, string> = { 1: 'computer', 2: 'domain', 3: 'dns_computer', 4: 'dns_domain' };
const dialectNames: Record<number, string> = {
  0x0202: '2.0.2',
  0x0210: '2.1',
  0x0300: '3.0',
  0x0302: '3.0.2',
};

/** SMB 2 responses with an NTLM CHALLENGE_MESSAGE (MS-NLMP section 2.2.1.2): version and names. */
function readSmbSession(bytes: Buffer): RecognizedService | null {
  const message = bytes[0] === 0x82 ? bytes.subarray(4) : bytes;
  if (message.length < 74 || message[0] !== 0 || message.toString('latin1', 4, 8) !== '\xfeSMB') return null;
  const at = message.indexOf('NTLMSSP\0\x02\0\0\0', 0, 'latin1');
  if (at === -1 && bytes === message) return null;
  const dialect = dialectNames[message.readUInt16LE(72)];
  const evidence: RecognizedService['evidence'] = dialect ? [['smb.dialect', dialect]] : [];
  const challenge = at === -1 ? Buffer.alloc(0) : message.subarray(at);
  if (challenge.length < 56)
    return { service: 'smb', evidence, proof: `SMB dialect ${dialect ?? 'unknown'}` };
  evidence.push(...challengeEvidence(challenge));
  return { service: 'smb', evidence, proof: `NTLM challenge: version ${versionOfChallenge(challenge)}` };
}

function versionOfChallenge(challenge: Buffer): string {
  return `${challenge[48]}.${challenge[49]}.${challenge.readUInt16LE(50)}`;
}

/** @param challenge 56 bytes at least */
function challengeEvidence(challenge: Buffer): RecognizedService['evidence'] {
  const names = targetNames(challenge);
  const evidence: RecognizedService['evidence'] = [['ntlm.version', versionOfChallenge(challenge)]];
  if (names !== '') evidence.push(['ntlm.names', names]);
  return evidence;
}

/** An RDP connection confirm followed by an NTLM challenge in a TSRequest (MS-CSSP section 2.2.1). */
function readCredSsp(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 19 + 56 || bytes[0] !== 3 || bytes[5] !== 0xd0 || bytes[19] !== 0x30) return null;
  const at = bytes.indexOf('NTLMSSP\0\x02\0\0\0', 19, 'latin1');
  const challenge = at === -1 ? Buffer.alloc(0) : bytes.subarray(at);
  if (challenge.length < 56) return null;
  const proof = `NTLM challenge: version ${versionOfChallenge(challenge)}`;
  const evidence = challengeEvidence(challenge).map(([key, text]): [string, string] => [
    key === 'ntlm.version' ? 'rdp.build' : key,
    text,
  ]);
  return { service: 'rdp', evidence, proof };
}

/** The `version` response identifies Gearman only after the Gearman probe. */
function readGearman(bytes: Buffer): RecognizedService | null {
  const line = /^OK \d[\x21-\x7e]{0,63}/.exec(bytes.toString('latin1', 0, 128))?.[0];
  return line ? recognizedBy('gearman', 'gearman.version', line) : null;
}

/** AV pairs: attribute and UTF-16 value, terminated by attribute 0. */
function targetNames(challenge: Buffer): string {
  const [length, start] = [challenge.readUInt16LE(40), challenge.readUInt32LE(44)];
  const pairs = challenge.subarray(start, start + length);
  const lines: string[] = [];
  for (let at = 0; at + 4 <= pairs.length && lines.length < entryLimit; ) {
    const [id, size] = [pairs.readUInt16LE(at), pairs.readUInt16LE(at + 2)];
    if (id === 0) break;
    const name = avNames[id];
    const text = pairs.toString('utf16le', at + 4, at + 4 + Math.min(size, textLimit));
    if (name && /^[\x20-\x7e]+$/.test(text)) lines.push(`${name}: ${text}`);
    at += 4 + size;
  }
  return lines.join('\n');
}

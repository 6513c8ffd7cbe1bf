import { type DerElement, elementAt, elementsIn } from '../tls/der-reader.ts';
import { plainText } from './plain-text.ts';

/** Maximum length of a text, characters. */
const textLimit = 512;
/** Limits of an SNMP message: elements, levels of nesting. */
const elementLimit = 64;

const elements = (content: Buffer) => elementsIn(content, elementLimit);

/** Response of an SNMP agent to a read with the community `public`. */
export interface SnmpRecord {
  /** `1` or `2c` */
  version: string;
  community: string;
  /** The first text among the values: sysDescr.0. Null = the agent sent none. */
  text: string | null;
  /** sysObjectID.0 in dotted form: its prefix identifies the vendor of the device. */
  objectId: string | null;
  /** sysName.0 */
  name: string | null;
}

/** A response of SNMP version 1 or 2c (RFC 1157, RFC 3416) without error; null = anything else. */
export function parseSnmp(bytes: Buffer): SnmpRecord | null {
  const message = elementAt(bytes, 0);
  if (message?.tag !== 0x30) return null;
  const version = elementAt(message.content, 0);
  const community = version && elementAt(message.content, version.end);
  const response = community && elementAt(message.content, community.end);
  if (version?.tag !== 0x02 || version.content.length !== 1 || community?.tag !== 0x04) return null;
  const number = version.content[0] as number;
  if (number > 1 || response?.tag !== 0xa2) return null;
  const fields = elements(response.content);
  // Request id, error status, error index, bindings.
  if (fields.length < 4 || fields[1]?.content.some((byte) => byte !== 0)) return null;
  const bindings = elements(fields[3]?.content ?? Buffer.alloc(0)).map(({ content }) => elements(content));
  const texts = bindings.filter(([, value]) => value?.tag === 0x04);
  const textOf = (found: DerElement[] | undefined) =>
    found?.[1]?.content.toString('latin1', 0, textLimit) ?? null;
  const objectId = bindings.find(([name, value]) => name?.tag === 0x06 && value?.tag === 0x06)?.[1];
  return {
    version: number === 0 ? '1' : '2c',
    community: community.content.toString('latin1', 0, textLimit),
    text: textOf(texts[0]),
    objectId: objectId ? dotted(objectId.content) : null,
    name: textOf(texts.find(([name]) => name?.content.equals(sysName))),
  };
}

/** 1.3.6.1.2.1.1.5.0 */
const sysName = Buffer.from([0x2b, 6, 1, 2, 1, 1, 5, 0]);

/** An object identifier (X.690, 8.19) whose numbers fit into 32 bits; null for others. */
function dotted(body: Buffer): string | null {
  const [first, ...rest] = body.subarray(0, elementLimit);
  if (first === undefined || first >= 120) return null;
  const numbers = [Math.floor(first / 40), first % 40];
  let number = 0;
  for (const byte of rest) {
    number = number * 128 + (byte & 0x7f);
    if (number > 0xffff_ffff) return null;
    if (byte >= 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  return numbers.join('.');
}

/** Engine of an SNMPv3 agent, reported without authentication (RFC 3414, 4). */
export interface SnmpEngine {
  /** IANA enterprise number of the vendor (RFC 3411, 5, SnmpEngineID). */
  enterprise: number;
  /** Hexadecimal. */
  engine: string;
  /** MAC address, if the engine id is built from one. */
  mac: string | null;
}

/** The report in response to SNMPv3 discovery; null = anything else. */
export function parseSnmpReport(bytes: Buffer): SnmpEngine | null {
  const message = elementAt(bytes, 0);
  if (message?.tag !== 0x30) return null;
  const [version, , security] = elements(message.content);
  if (
    version?.tag !== 0x02 ||
    version.content.length !== 1 ||
    version.content[0] !== 3 ||
    security?.tag !== 0x04
  )
    return null;
  const engine = elements(elementAt(security.content, 0)?.content ?? Buffer.alloc(0))[0];
  if (engine?.tag !== 0x04 || engine.content.length < 5 || engine.content.length > 32) return null;
  const id = engine.content;
  const [form, rest] = [id[4], id.subarray(5)];
  const isMac = (id[0] as number) >= 0x80 && form === 3 && rest.length === 6;
  return {
    enterprise: id.readUInt32BE(0) & 0x7fff_ffff,
    engine: id.toString('hex'),
    mac: isMac ? [...rest].map((byte) => byte.toString(16).padStart(2, '0')).join(':') : null,
  };
}

export interface NtpRecord {
  /** `time`: a client request. `monitor`: the list of recent clients. `variables`: system variables. */
  kind: 'time' | 'monitor' | 'variables';
  /** Clients in the first packet of the list. */
  clients: number;
  stratum: number | null;
  /** System variables as sent; null for other kinds. */
  variables: string | null;
}

const monitorCode = 42;
/** A successful response to the read variables command, RFC 9327 section 2. */
const readVariablesResponse = 0x82;

/** A response of mode 4 (RFC 5905), or of the private mode 7 that lists clients; null = not NTP. */
export function parseNtp(bytes: Buffer): NtpRecord | null {
  if (bytes.length < 8) return null;
  const first = bytes[0] as number;
  if ((first & 7) === 4 && bytes.length >= 48) {
    return { kind: 'time', clients: 0, stratum: bytes[1] as number, variables: null };
  }
  if ((first & 7) === 6) return parseControl(bytes);
  // Response bit, mode 7, the requested code, and no error in the upper four bits.
  if ((first & 0x87) !== 0x87 || bytes[3] !== monitorCode) return null;
  const [items, size] = [bytes.readUInt16BE(4), bytes.readUInt16BE(6)];
  if (items >> 12 !== 0 || (size & 0xfff) === 0) return null;
  return { kind: 'monitor', clients: items & 0xfff, stratum: null, variables: null };
}

/** A control message (mode 6), RFC 9327 section 2: 12 bytes, then text. */
function parseControl(bytes: Buffer): NtpRecord | null {
  if (bytes.length < 12 || ((bytes[1] as number) & 0xdf) !== readVariablesResponse) return null;
  const end = 12 + Math.min(bytes.readUInt16BE(10), 2 * textLimit);
  const variables = plainText(bytes.toString('latin1', 12, end), 2 * textLimit);
  return { kind: 'variables', clients: 0, stratum: null, variables };
}

/** Response of a management controller before any login. */
export interface IpmiRecord {
  /** A Get Channel Authentication Capabilities response, or only the pong of ASF. */
  kind: 'capabilities' | 'pong';
  /** The controller supports IPMI 2.0 (RMCP+); null = unknown. */
  version2: boolean | null;
  /** IANA enterprise number of the OEM; 0 = none. */
  enterprise: number;
  /** Authentication types; `none` if no password is needed. */
  methods: string[];
  /** Anonymous logins: without a user name, without user name and password. */
  anonymous: string[];
}

const ipmiMethods = ['none', 'md2', 'md5', '', 'password', 'oem'];

/** An RMCP response (IPMI 2.0 sections 13.1.3, 13.2.4, 22.13); null = anything else. */
export function parseIpmi(bytes: Buffer): IpmiRecord | null {
  if (bytes.length < 12 || bytes[0] !== 6 || bytes[2] !== 0xff) return null;
  if (bytes[3] === 6 && bytes[8] === 0x40) {
    const enterprise = bytes.length >= 20 ? bytes.readUInt32BE(16) : 0;
    return bytes.readUInt32BE(4) === 4542
      ? { kind: 'pong', version2: null, enterprise, methods: [], anonymous: [] }
      : null;
  }
  // No session: authentication type, two 32-bit numbers, the length, then the IPMI message.
  if (bytes[3] !== 7 || bytes[4] !== 0 || bytes.length < 29) return null;
  const message = bytes.subarray(14);
  // Response of the network function Application, the command 0x38, no error.
  if ((message[1] as number) >> 2 !== 7 || message[5] !== 0x38 || message[6] !== 0) return null;
  const [types, status, extended] = [message[8] as number, message[9] as number, message[10] as number];
  return {
    kind: 'capabilities',
    version2: (types & 0x80) !== 0 && (extended & 2) !== 0,
    enterprise: message.length >= 14 ? message.readUIntLE(11, 3) : 0,
    methods: ipmiMethods.filter((name, bit) => name !== '' && (types & (1 << bit)) !== 0),
    anonymous: [
      ...((status & 1) !== 0 ? ['no name and no password'] : []),
      ...((status & 2) !== 0 ? ['no name'] : []),
    ],
  };
}

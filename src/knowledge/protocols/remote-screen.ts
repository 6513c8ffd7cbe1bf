/** Maximum number of RFB security types read. */
const securityTypeLimit = 64;
/** Maximum length of a text, characters. */
const textLimit = 256;

/** Response of a VNC server before any login (RFC 6143, 7.1.1 and 7.1.2). */
export interface RfbRecord {
  /** `3.8` */
  version: string;
  /** 1 = none, 2 = VNC password, ...; null = unknown. */
  securityTypes: number[] | null;
}

/** Greeting and the security types after the client's version; null = not RFB. */
export function parseRfb(bytes: Buffer): RfbRecord | null {
  const greeting = /^RFB (\d{3})\.(\d{3})\n/.exec(bytes.toString('latin1', 0, 12));
  if (!greeting) return null;
  const version = `${Number(greeting[1])}.${Number(greeting[2])}`;
  const response = bytes.subarray(12);
  return { version, securityTypes: response.length === 0 ? null : securityTypesOf(response, version) };
}

/** Up to version 3.6 the server selects one type, 32 bits; later it lists them, one byte each, after their count. */
function securityTypesOf(response: Buffer, version: string): number[] | null {
  if (/^3\.[0-6]$/.test(version)) return response.length < 4 ? null : [response.readUInt32BE(0)];
  const count = response[0] as number;
  // Zero types mean a rejection with a reason.
  if (count === 0 || response.length < 1 + count) return null;
  return [...response.subarray(1, 1 + Math.min(count, securityTypeLimit))];
}

/** Response of an RDP server to a client that offers TLS without network level authentication. */
export interface RdpRecord {
  /** `nla_required`: only CredSSP. `tls` or `rdp`: the server accepts this security without CredSSP. */
  security: 'nla_required' | 'tls' | 'rdp' | 'unknown';
  /** The response in words, with its codes. */
  proof: string;
}

const negotiationResponse = 2;
const negotiationFailure = 3;

/** Failure codes, MS-RDPBCGR 2.2.1.2.2. */
const refusals: Record<number, RdpRecord['security']> = {
  2: 'rdp', // SSL_NOT_ALLOWED_BY_SERVER
  3: 'rdp', // SSL_CERT_NOT_ON_SERVER
  5: 'nla_required', // HYBRID_REQUIRED_BY_SERVER
  6: 'unknown', // SSL_WITH_USER_AUTH_REQUIRED_BY_SERVER
};

/** The connection confirm (MS-RDPBCGR 2.2.1.2) in its TPKT; null = not RDP. */
export function parseRdp(bytes: Buffer): RdpRecord | null {
  if (bytes.length < 11 || bytes[0] !== 3 || bytes[1] !== 0 || bytes[5] !== 0xd0) return null;
  const length = bytes.readUInt16BE(2);
  if (length < 11 || length > 64 || (bytes[4] as number) !== length - 5) return null;
  // Servers that predate negotiation support only the weak RDP security.
  if (length === 11) return { security: 'rdp', proof: 'connection confirm without negotiation' };
  if (bytes.length < 19) return null;
  const [type, value] = [bytes[11], bytes.readUInt32LE(15)];
  if (type === negotiationResponse) {
    const chosen = value === 0 ? 'rdp' : value === 1 ? 'tls' : 'unknown';
    return { security: chosen, proof: `negotiation response, selected protocol ${value}` };
  }
  if (type !== negotiationFailure) return null;
  return { security: refusals[value] ?? 'unknown', proof: `negotiation failure, code ${value}` };
}

/** Response of an X server to a client without credentials (X Window System Protocol, 8). */
export interface X11Record {
  admitted: boolean;
  /** `11.0` */
  version: string;
  /** Vendor of the server, or the reason of a rejection. */
  text: string;
  /** X.Org release in its usual form: `21.1.7`, older ones `1.20.13`; null = unknown. */
  release: string | null;
}

/** @returns null if the bytes are not X11 */
export function parseX11(bytes: Buffer): X11Record | null {
  if (bytes.length < 8) return null;
  const [status, major, minor] = [bytes[0] as number, bytes.readUInt16LE(2), bytes.readUInt16LE(4)];
  if (status > 2 || major !== 11 || minor > 10) return null;
  const size = bytes.readUInt16LE(6) * 4;
  const version = `${major}.${minor}`;
  if (status === 1) {
    if (bytes.length < 40 || size < 32) return null;
    const vendor = bytes.toString('latin1', 40, 40 + Math.min(bytes.readUInt16LE(24), textLimit));
    return { admitted: true, version, text: vendor, release: xorgRelease(vendor, bytes.readUInt32LE(8)) };
  }
  const length = status === 0 ? (bytes[1] as number) : size;
  const reason = bytes.toString('latin1', 8, 8 + Math.min(length, textLimit)).replace(/(?<!\0)\0+$/, '');
  return { admitted: false, version, text: reason.trim(), release: null };
}

/** Decimal digits: one times 10^7, two times 10^5, two times 10^3, three; since 21 without the leading 1. */
function xorgRelease(vendor: string, number: number): string | null {
  if (!/X\.Org/.test(vendor) || number < 10_000_000 || number >= 30_000_000) return null;
  const major = Math.floor(number / 10_000_000);
  const minor = Math.floor(number / 100_000) % 100;
  const patch = Math.floor(number / 1000) % 100;
  return minor >= 21 ? `${minor}.${patch}.${number % 1000}` : `${major}.${minor}.${patch}`;
}

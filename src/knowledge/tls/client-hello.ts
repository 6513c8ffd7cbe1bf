import { type TlsVersion, versionCode } from './versions.ts';

/** Signals secure renegotiation (RFC 5746) in hellos without extensions. */
const renegotiationScsv = 0x00ff;
/** Signals a fallback from a newer version (RFC 7507). */
export const fallbackScsv = 0x5600;

/** Hellos from this size up to 511 bytes hang some servers, so they are padded (RFC 7685). */
const hangingFrom = 256;
const hangingTo = 511;

const extension = {
  serverName: 0,
  status: 5,
  supportedGroups: 10,
  pointFormats: 11,
  signatureAlgorithms: 13,
  heartbeat: 15,
  alpn: 16,
  padding: 21,
  extendedMasterSecret: 23,
  sessionTicket: 35,
  supportedVersions: 43,
  pskModes: 45,
  keyShare: 51,
  renegotiationInfo: 0xff01,
} as const;

const x25519 = 0x001d;

/** Everything from EdDSA to DSA with MD5, strong ones first, so that a server can offer any certificate. */
const signatureSchemes = [
  0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x081a, 0x081b, 0x081c, 0x0804, 0x0805, 0x0806, 0x0809, 0x080a,
  0x080b, 0x0401, 0x0501, 0x0601, 0x0402, 0x0502, 0x0602, 0x0303, 0x0301, 0x0302, 0x0203, 0x0201, 0x0202,
  0x0101,
];

export interface HelloOffer {
  version: TlsVersion;
  /** At most about 120: old servers fail on more. */
  suites: readonly number[];
  /** Groups for the key exchange; empty = no extension. */
  groups: readonly number[];
  /** TLS 1.3: include a key share for X25519. Without one the server must name the group it wants. */
  keyShare: boolean;
  /** Name for SNI; null for a server known only by its address. */
  serverName: string | null;
  alpn: readonly string[];
  /** Offer compression by DEFLATE, up to TLS 1.2. */
  compression: boolean;
  /** False = no extensions, like clients of the 1990s. SSL 3.0 has none. */
  extensions: boolean;
  /** Allow the server to send heartbeats (RFC 6520), up to TLS 1.2. */
  heartbeat?: boolean;
  /** Request the OCSP status of the certificate (RFC 6066, 8). */
  status?: boolean;
  /** Session to resume, up to TLS 1.2: an id of 1 to 32 bytes that the server echoes, and its ticket (RFC 5077). */
  resume?: { sessionId: Uint8Array; ticket: Uint8Array };
  /** 64 bytes: the client random, then the key share or session id. Nothing is encrypted with them. */
  random: Uint8Array;
}

/** A record with a ClientHello (RFC 6101, 2246, 4346, 5246, 8446). */
export function clientHello(offer: HelloOffer): Buffer {
  const { version } = offer;
  const extended = offer.extensions && version !== 'SSLv3';
  const legacyVersion = version === 'TLSv1.3' ? 0x0303 : versionCode(version);
  const sessionId =
    version === 'TLSv1.3' ? offer.random.subarray(32, 64) : (offer.resume?.sessionId ?? new Uint8Array(0));
  const suites = extended ? offer.suites : [...offer.suites, renegotiationScsv];
  const compression = offer.compression && version !== 'TLSv1.3' ? [1, 0] : [0];
  const head = Buffer.concat([
    uint16(legacyVersion),
    offer.random.subarray(0, 32),
    vector8(sessionId),
    vector16(...suites.map(uint16)),
    vector8(Buffer.from(compression)),
  ]);
  const body = extended ? Buffer.concat([head, extensionBlock(offer, head.length)]) : head;
  // Servers compare the record version with their oldest version.
  const recordVersion = version === 'SSLv3' ? 0x0300 : 0x0301;
  return Buffer.concat([
    Buffer.from([22]),
    uint16(recordVersion),
    vector16(Buffer.from([1]), vector24(body)),
  ]);
}

function extensionBlock(offer: HelloOffer, before: number): Buffer {
  const parts = extensionsOf(offer);
  const length = before + 2 + 4 + parts.reduce((sum, part) => sum + part.length, 0);
  if (length >= hangingFrom && length <= hangingTo) {
    parts.push(entry(extension.padding, Buffer.alloc(Math.max(0, hangingTo + 1 - length - 4))));
  }
  return vector16(...parts);
}

function extensionsOf(offer: HelloOffer): Buffer[] {
  const { version, serverName, groups, alpn } = offer;
  const parts: Buffer[] = [];
  if (serverName) parts.push(entry(extension.serverName, nameList(serverName)));
  if (groups.length > 0) {
    parts.push(entry(extension.supportedGroups, vector16(...groups.map(uint16))));
    parts.push(entry(extension.pointFormats, Buffer.from([3, 0, 1, 2])));
  }
  if (alpn.length > 0)
    parts.push(entry(extension.alpn, vector16(...alpn.map((each) => vector8(latin1(each))))));
  if (version === 'TLSv1.2' || version === 'TLSv1.3') {
    parts.push(entry(extension.signatureAlgorithms, vector16(...signatureSchemes.map(uint16))));
  }
  if (offer.status) parts.push(entry(extension.status, Buffer.from([1, 0, 0, 0, 0])));
  if (version === 'TLSv1.3') return [...parts, ...keysOf13(offer)];
  if (offer.heartbeat) parts.push(entry(extension.heartbeat, Buffer.from([1])));
  return [...parts, ...repairsOf12(offer.resume?.ticket)];
}

/** Extensions that fix weaknesses of TLS up to 1.2, and session tickets (RFC 5746, 7627, 5077). */
function repairsOf12(ticket?: Uint8Array): Buffer[] {
  return [
    entry(extension.extendedMasterSecret),
    entry(extension.sessionTicket, ticket),
    entry(extension.renegotiationInfo, Buffer.from([0])),
  ];
}

function keysOf13({ keyShare, random }: HelloOffer): Buffer[] {
  // Any 32 bytes are a valid X25519 public key (RFC 7748, 5).
  const share = keyShare ? [uint16(x25519), vector16(random.subarray(32, 64))] : [];
  return [
    entry(extension.supportedVersions, Buffer.from([2, 3, 4])),
    entry(extension.pskModes, Buffer.from([1, 1])),
    entry(extension.keyShare, vector16(...share)),
  ];
}

/** RFC 6066, 3. */
function nameList(name: string): Buffer {
  return vector16(Buffer.from([0]), vector16(latin1(name)));
}

function entry(type: number, content: Uint8Array = new Uint8Array(0)): Buffer {
  return Buffer.concat([uint16(type), vector16(content)]);
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function vector8(content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([content.length]), content]);
}

function vector16(...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([uint16(content.length), content]);
}

function vector24(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([content.length >> 16]), uint16(content.length & 0xffff), content]);
}

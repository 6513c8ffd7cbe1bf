import { randomBytes } from 'node:crypto';
import { ber, integer, octets, sequence } from './ber.ts';
import {
  bacnetVendor,
  finsController,
  isBacnet,
  isFinsResponse,
  isIdentity,
  listIdentity,
} from './control-requests.ts';
import { kerberosRequest, rootEntrySearch } from './directory-requests.ts';
import { latin1, uint16, uint32 } from './request-bytes.ts';
import { sipOptions } from './sip-request.ts';

/** A datagram that makes a service respond: harmless reads and first messages only, never a login or a change. */
export interface UdpPayload {
  /** Service that it probes. */
  service: string;
  bytes: Uint8Array;
  /** Whether a datagram is a response to this payload. */
  looksLike?: (response: Uint8Array) => boolean;
  /** The service responds from a port of its own choice (TFTP, RFC 1350). */
  answersElsewhere?: boolean;
}

interface PortPayloads {
  ports: readonly number[];
  /** In the order of use. */
  payloads: readonly UdpPayload[];
}

/** Payloads for a port; empty for a port without a known protocol. */
export function udpPayloads(port: number): readonly UdpPayload[] {
  return byPort.get(port) ?? [];
}

function u8(...values: number[]): Buffer {
  return Buffer.from(values);
}

function lines(...values: string[]): Buffer {
  return latin1(`${values.join('\r\n')}\r\n\r\n`);
}

/** True if a response repeats these bytes of the request at the same offset. */
function repeats(request: Uint8Array, from: number, to: number) {
  return (response: Uint8Array) =>
    response.length >= to && Buffer.compare(response.subarray(from, to), request.subarray(from, to)) === 0;
}

/** The first block of data, or an error with a code of RFC 1350 or RFC 2347. */
function isTftpResponse(bytes: Uint8Array): boolean {
  const [high, opcode, codeHigh, code = Infinity] = bytes;
  if (high !== 0 || codeHigh !== 0) return false;
  return opcode === 3 ? code === 1 : opcode === 5 && code <= 8;
}

const startsWith = (prefix: Uint8Array) => (response: Uint8Array) =>
  Buffer.compare(response.subarray(0, prefix.length), prefix) === 0;

// --- DNS and its relatives (RFC 1035) ---

const typeNs = 2;
const typePtr = 12;
const typeTxt = 16;
const typeNodeStatus = 33;
const classInternet = 1;
const classChaos = 3;
/** Requests a unicast response, RFC 6762 section 5.4. */
const unicastResponse = 0x8000;

function dnsQuery(labels: readonly string[], type: number, questionClass: number): Buffer {
  const id = randomBytes(2);
  const name = labels.flatMap((label) => [u8(label.length), latin1(label)]);
  const header = Buffer.concat([id, uint16(0, 1, 0, 0, 0)]);
  return Buffer.concat([header, ...name, u8(0), uint16(type, questionClass)]);
}

/** The same id, with the response bit set. */
const isDnsResponseTo = (query: Buffer) => (response: Uint8Array) =>
  repeats(query, 0, 2)(response) && response.length >= 12 && ((response[2] as number) & 0x80) !== 0;

function dnsPayload(service: string, query: Buffer): UdpPayload {
  return { service, bytes: query, looksLike: isDnsResponseTo(query) };
}

// --- SNMP ---

/** 1.3.6.1.2.1.1.1.0 */
const sysDescr = u8(0x2b, 6, 1, 2, 1, 1, 1, 0);
const getRequest = 0xa0;

/** Versions 1 (0) and 2c (1), RFC 1157 and RFC 1901: one read of the system description. */
function snmpGet(version: 0 | 1): Buffer {
  const bindings = sequence(sequence(ber(0x06, sysDescr), ber(0x05)));
  const request = ber(getRequest, integer(0x504f52), integer(0), integer(0), bindings);
  return sequence(integer(version), octets('public'), request);
}

/** Engine discovery, RFC 3414 section 4: the agent reports its engine id, whatever users it has. */
function snmpDiscovery(): Buffer {
  const header = sequence(integer(0x504f52), integer(65_507), ber(0x04, u8(4)), integer(3));
  const security = sequence(octets(''), integer(0), integer(0), octets(''), octets(''), octets(''));
  const request = ber(getRequest, integer(0x504f52), integer(0), integer(0), sequence());
  return sequence(integer(3), header, ber(0x04, security), sequence(octets(''), octets(''), request));
}

// --- Keys and tunnels ---

const ikeSa = 1;
const ike2Sa = 33;
const ike2Key = 34;
const ike2Nonce = 40;

function isakmp(version: number, first: number, exchange: number, flags: number, payloads: Buffer): Buffer {
  const spis = Buffer.concat([randomBytes(8), Buffer.alloc(8)]);
  return Buffer.concat([
    spis,
    u8(first, version, exchange, flags),
    uint32(0, 28 + payloads.length),
    payloads,
  ]);
}

function isakmpPayload(next: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u8(next, 0), uint16(4 + body.length), body]);
}

/** Main mode, one proposal: AES-256, SHA-1, a shared key, group 2. RFC 2409 section 5. */
function ike1(): Buffer {
  const algorithms = uint16(0x8001, 7, 0x800e, 256, 0x8002, 2, 0x8003, 1, 0x8004, 2);
  const attributes = Buffer.concat([algorithms, uint16(0x800b, 1, 0x800c, 28_800)]);
  const transform = isakmpPayload(0, u8(1, 1, 0, 0), attributes);
  const proposal = isakmpPayload(0, u8(1, 1, 0, 1), transform);
  return isakmp(0x10, ikeSa, 2, 0, isakmpPayload(0, uint32(1, 1), proposal));
}

/** IKE_SA_INIT, one proposal: AES-256, SHA-256, group 14. RFC 7296 section 1.2. */
function ike2(): Buffer {
  const transform = (next: number, type: number, id: number, attributes: Uint8Array = u8()) =>
    isakmpPayload(next, u8(type, 0), uint16(id), attributes);
  const transforms = [
    transform(3, 1, 12, uint16(0x800e, 256)),
    transform(3, 2, 5),
    transform(3, 3, 12),
    transform(0, 4, 14),
  ];
  const proposal = isakmpPayload(0, u8(1, 1, 0, transforms.length), ...transforms);
  // A public value must be below the prime: its first byte is.
  const publicValue = Buffer.concat([u8(0x20), randomBytes(255)]);
  return isakmp(
    0x20,
    ike2Sa,
    34,
    0x08,
    Buffer.concat([
      isakmpPayload(ike2Key, proposal),
      isakmpPayload(ike2Nonce, uint16(14, 0), publicValue),
      isakmpPayload(0, randomBytes(32)),
    ]),
  );
}

function ikePayloads(marker: Uint8Array): UdpPayload[] {
  return [ike2(), ike1()].map((message) => ({
    service: 'isakmp',
    bytes: Buffer.concat([marker, message]),
    looksLike: startsWith(Buffer.concat([marker, message.subarray(0, 8)])),
  }));
}

/** Start-Control-Connection-Request, RFC 2661 section 6.1. */
function l2tpStart(tunnel: number): Buffer {
  const pair = (type: number, value: Uint8Array) =>
    Buffer.concat([uint16(0x8000 | (6 + value.length), 0, type), value]);
  const pairs = Buffer.concat([
    pair(0, uint16(1)),
    pair(2, uint16(0x0100)),
    pair(3, uint32(3)),
    pair(7, latin1('portolan')),
    pair(9, uint16(tunnel)),
  ]);
  return Buffer.concat([uint16(0xc802, 12 + pairs.length, 0, 0, 0, 0), pairs]);
}

/** First message of a client without static key: P_CONTROL_HARD_RESET_CLIENT_V2, no acknowledgements, packet 0. */
const openvpnReset = () => Buffer.concat([u8(7 << 3), randomBytes(8), u8(0), uint32(0)]);

/**
 * A packet of an unsupported version: the server lists the supported ones. RFC 8999 section 6, RFC 9000 section 6.
 */
function quicInitial(): Buffer {
  const head = Buffer.concat([u8(0xc0), uint32(0x1a2a3a4a), u8(8), randomBytes(8), u8(8), randomBytes(8)]);
  return Buffer.concat([head, Buffer.alloc(1200 - head.length)]);
}

/** ClientHello of DTLS 1.2, RFC 6347 section 4.2: the server responds with a cookie or its hello. */
function dtlsHello(): Buffer {
  const suites = uint16(0xc02b, 0xc02f, 0xc02c, 0xc030, 0xc0ae, 0xc00a, 0xc014, 0x009c, 0x002f, 0xc0a8);
  const extension = (type: number, body: Uint8Array) => Buffer.concat([uint16(type, body.length), body]);
  const extensions = Buffer.concat([
    extension(10, uint16(4, 29, 23)),
    extension(11, u8(1, 0)),
    extension(13, uint16(8, 0x0403, 0x0804, 0x0401, 0x0201)),
  ]);
  const body = Buffer.concat([
    uint16(0xfefd),
    randomBytes(32),
    u8(0, 0),
    uint16(suites.length),
    suites,
    u8(1, 0),
    uint16(extensions.length),
    extensions,
  ]);
  const length = uint32(body.length).subarray(1);
  const handshake = Buffer.concat([u8(1), length, uint16(0), u8(0, 0, 0), length, body]);
  return Buffer.concat([u8(22), uint16(0xfeff), Buffer.alloc(8), uint16(handshake.length), handshake]);
}

// --- Games ---

/** Unconnected ping of RakNet: time, magic number, id. */
const raknetPing = Buffer.concat([
  u8(1),
  Buffer.alloc(8),
  Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex'),
  latin1('PORTOLAN'),
]);

/** Teeworlds 0.7 responds to an unknown client only with a token; the protocol fixes the length of the request. */
const teeworldsToken = Buffer.concat([
  u8(4, 0, 0, 0xff, 0xff, 0xff, 0xff, 5),
  latin1('PORT'),
  Buffer.alloc(512),
]);

// --- Everything else ---

/** A client's request, version 4, RFC 5905 section 7.3; the server copies the last eight bytes. */
function ntpRequest(): Buffer {
  return Buffer.concat([u8(0xe3), Buffer.alloc(39), randomBytes(8)]);
}

/** The null procedure, RFC 5531 section 9. */
function rpcNull(program: number, version: number): UdpPayload {
  const id = randomBytes(4);
  const bytes = Buffer.concat([id, uint32(0, 2, program, version, 0, 0, 0, 0, 0)]);
  return { service: 'rpcbind', bytes, looksLike: startsWith(id) };
}

/** GET /.well-known/core, confirmable, RFC 7252 and RFC 6690. */
function coapGet(): Buffer {
  const path = Buffer.concat([u8(0xbb), latin1('.well-known'), u8(0x04), latin1('core')]);
  return Buffer.concat([u8(0x40, 0x01), randomBytes(2), path]);
}

/** Binding request, RFC 8489 section 5. */
function stunBinding(): Buffer {
  return Buffer.concat([uint16(1, 0), uint32(0x2112a442), randomBytes(12)]);
}

/** A Probe for every kind of device, Web Services Dynamic Discovery 1.0. */
function wsDiscoveryProbe(): Buffer {
  const id = randomBytes(16).toString('hex');
  const uuid = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-');
  const discovery = 'http://schemas.xmlsoap.org/ws/2005/04/discovery';
  return latin1(
    '<?xml version="1.0" encoding="utf-8"?>' +
      '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"' +
      ' xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing"' +
      ` xmlns:d="${discovery}"><s:Header>` +
      `<a:Action>${discovery}/Probe</a:Action><a:MessageID>urn:uuid:${uuid}</a:MessageID>` +
      '<a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>' +
      '</s:Header><s:Body><d:Probe/></s:Body></s:Envelope>',
  );
}

const ntp = ntpRequest();
const stun = stunBinding();
const mumblePing = Buffer.concat([uint32(0), randomBytes(8)]);
const quic = quicInitial();
const quicPayload: UdpPayload = {
  service: 'quic',
  bytes: quic,
  // The server puts our identifier where a client's is, after ours of the other direction.
  looksLike: (response) => response.length >= 7 && ((response[0] as number) & 0x80) !== 0,
};
const dtlsPayload: UdpPayload = {
  service: 'dtls',
  bytes: dtlsHello(),
  looksLike: (response) => (response[0] === 22 || response[0] === 21) && response[1] === 0xfe,
};
const snmpPayload = (bytes: Buffer): UdpPayload => ({
  service: 'snmp',
  bytes,
  looksLike: (response) => response[0] === 0x30,
});
const one = (
  ports: readonly number[],
  service: string,
  bytes: Uint8Array,
  more: Partial<UdpPayload> = {},
) => ({
  ports,
  payloads: [{ service, bytes, ...more }],
});

const openvpnPayload = (): PortPayloads =>
  one([1194], 'openvpn', openvpnReset(), { looksLike: (response) => (response[0] as number) >> 3 === 8 });

/**
 * The same payloads with new identifiers, for servers that identify a client by them and respond a second time to the
 * origin of the first, or not at all. Null = the protocol has no such state.
 */
export function freshPayloads(port: number): readonly UdpPayload[] | null {
  if (port === 500) return ikePayloads(u8());
  if (port === 4500) return ikePayloads(uint32(0));
  if (port === 1194) return openvpnPayload().payloads;
  // The first datagram may be a bare acknowledgement of 12 bytes; the reply follows it.
  if (port === 1701)
    return one([1701], 'l2tp', l2tpStart(2 + (randomBytes(2).readUInt16BE(0) % 60_000)), {
      looksLike: (response) => response.length > 12 && ((response[0] as number) & 0x80) !== 0,
    }).payloads;
  return null;
}

const catalogue: readonly PortPayloads[] = [
  {
    ports: [53],
    payloads: [
      dnsPayload('domain', dnsQuery([], typeNs, classInternet)),
      dnsPayload('domain', dnsQuery(['version', 'bind'], typeTxt, classChaos)),
    ],
  },
  {
    ports: [5353],
    payloads: [
      dnsPayload(
        'mdns',
        dnsQuery(['_services', '_dns-sd', '_udp', 'local'], typePtr, classInternet | unicastResponse),
      ),
    ],
  },
  {
    // The name `*`, padded with zeros, in the encoding of RFC 1001 section 14.1.
    ports: [137],
    payloads: [dnsPayload('netbios-ns', dnsQuery([`CK${'A'.repeat(30)}`], typeNodeStatus, classInternet))],
  },
  // These respond to any datagram: RFC 862 to 868.
  one([7, 13, 17, 19, 37], 'echo', latin1('\r\n')),
  one([69], 'tftp', latin1('\0\x01portolan-no-such-file\0octet\0'), {
    looksLike: isTftpResponse,
    answersElsewhere: true,
  }),
  one([88], 'kerberos', kerberosRequest(), {
    looksLike: (response) => response[0] === 0x7e || response[0] === 0x6b,
  }),
  { ports: [111], payloads: [rpcNull(100_000, 2)] },
  { ports: [2049], payloads: [rpcNull(100_003, 3)] },
  one([123], 'ntp', ntp, {
    looksLike: (response) =>
      response.length >= 48 &&
      ((response[0] as number) & 7) === 4 &&
      Buffer.compare(response.subarray(24, 32), ntp.subarray(40)) === 0,
  }),
  {
    ports: [161],
    payloads: [snmpPayload(snmpDiscovery()), snmpPayload(snmpGet(1)), snmpPayload(snmpGet(0))],
  },
  // A query without authentication names, X Display Manager Control Protocol.
  one([177], 'xdmcp', Buffer.concat([uint16(1, 2, 1), u8(0)]), { looksLike: startsWith(uint16(1)) }),
  one([389], 'ldap', rootEntrySearch('supportedLDAPVersion'), {
    looksLike: (response) => response[0] === 0x30,
  }),
  { ports: [443, 784, 8443, 8853], payloads: [quicPayload] },
  { ports: [853], payloads: [quicPayload, dtlsPayload] },
  { ports: [3391, 4433, 5349, 5684, 10_161], payloads: [dtlsPayload] },
  { ports: [500], payloads: ikePayloads(u8()) },
  // RFC 3948 section 2.2: four zero bytes distinguish IKE from ESP.
  { ports: [4500], payloads: ikePayloads(uint32(0)) },
  // The whole routing table, RFC 2453 section 3.9.1.
  one([520], 'rip', Buffer.concat([u8(1, 2, 0, 0), uint32(0, 0, 0, 0, 16)]), {
    looksLike: startsWith(u8(2)),
  }),
  // ASF presence ping, DMTF DSP0136 section 3.2.4.3.
  one([623, 664], 'ipmi', Buffer.concat([u8(6, 0, 0xff, 6), uint32(4542), u8(0x80, 0, 0, 0)]), {
    looksLike: startsWith(u8(6, 0)),
  }),
  openvpnPayload(),
  // The instances of a SQL Server, MC-SQLR section 2.2.1.
  one([1434], 'ms-sql-m', u8(2), { looksLike: startsWith(u8(5)) }),
  one([1701], 'l2tp', l2tpStart(1), { looksLike: (response) => ((response[0] as number) & 0x80) !== 0 }),
  one(
    [1900],
    'ssdp',
    lines(
      'M-SEARCH * HTTP/1.1',
      'HOST: 239.255.255.250:1900',
      'MAN: "ssdp:discover"',
      'MX: 1',
      'ST: upnp:rootdevice',
    ),
    { looksLike: startsWith(latin1('HTTP/1.')) },
  ),
  one([3478, 3479, 19_302], 'stun', stun, { looksLike: repeats(stun, 4, 20) }),
  one([3702], 'ws-discovery', wsDiscoveryProbe(), { looksLike: startsWith(latin1('<')) }),
  one([5060], 'sip', latin1(sipOptions('UDP')), { looksLike: startsWith(latin1('SIP/2.0')) }),
  // External address of a gateway, RFC 6886 section 3.2.
  one([5351], 'nat-pmp', u8(0, 0), { looksLike: startsWith(u8(0, 0x80)) }),
  one([5683], 'coap', coapGet(), { looksLike: (response) => ((response[0] as number) & 0xc0) === 0x40 }),
  // Control systems: one read each.
  one([9600], 'fins', finsController, { looksLike: isFinsResponse }),
  one([44_818], 'ethernet-ip', listIdentity, { looksLike: isIdentity }),
  one([47_808], 'bacnet', bacnetVendor, { looksLike: isBacnet }),
  // Discovery of Ubiquiti devices.
  one([10_001], 'ubiquiti-discovery', u8(1, 0, 0, 0), { looksLike: startsWith(u8(1)) }),
  // The ping of Mumble: four zeros, then an identifier that is repeated after the version.
  one([64_738], 'mumble', mumblePing, {
    looksLike: (response) =>
      response.length === 24 && Buffer.compare(response.subarray(4, 12), mumblePing.subarray(4)) === 0,
  }),
  // Games: the query that clients use to browse servers.
  one([27_960, 27_961, 27_910, 27_500, 26_000], 'quake', latin1('\xff\xff\xff\xffgetstatus\n'), {
    looksLike: startsWith(u8(0xff, 0xff, 0xff, 0xff)),
  }),
  one([27_015, 27_016, 27_017, 2303], 'source-engine', latin1('\xff\xff\xff\xffTSource Engine Query\0'), {
    looksLike: startsWith(u8(0xff, 0xff, 0xff, 0xff)),
  }),
  one([19_132, 19_133], 'minecraft', raknetPing, { looksLike: startsWith(u8(0x1c)) }),
  {
    ports: [8303, 8304, 8305],
    payloads: [
      { service: 'teeworlds', bytes: latin1('\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffgie3\x05') },
      { service: 'teeworlds', bytes: teeworldsToken },
    ],
  },
  one([30_000], 'minetest', Buffer.from('4f4574030000000001', 'hex')),
  // A frame: request 1, part 0 of 1.
  one([11_211], 'memcached', Buffer.concat([uint16(1, 0, 1, 0), latin1('version\r\n')]), {
    looksLike: startsWith(uint16(1, 0)),
  }),
];

const byPort = new Map(
  catalogue.flatMap(({ ports, payloads }) => ports.map((port) => [port, payloads] as const)),
);

/** Ports whose services stay silent to unknown clients, or have no harmless request. */
const mutePorts = [67, 68, 138, 162, 514, 631, 1645, 1812, 1813, 5355, 51_820];

/** UDP ports worth probing in most networks, ascending: those with a payload, and a few silent ones. */
export const commonUdpPorts: readonly number[] = [...byPort.keys(), ...mutePorts].sort((a, b) => a - b);

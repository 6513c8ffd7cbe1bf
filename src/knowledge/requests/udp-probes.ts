import { rootEntrySearch } from './directory-requests.ts';
import { freshPayloads, udpPayloads } from './udp-payloads.ts';

/** A probe of an open UDP port: learns more than the payloads that found the port. */
export interface UdpProbe {
  /** Name of the probe in the banner. */
  name: string;
  /** A function gets the address of the host; null = not applicable to this host. */
  bytes: Uint8Array | ((host: string) => Uint8Array | null);
  /** Whether a datagram is a response to this probe. */
  looksLike: (response: Uint8Array) => boolean;
}

/** Maximum number of probes per port. */
const probeLimit = 6;

/** DNS: the header with id 0x504f and these flags, one question. */
function dnsQuery(flags: number, name: string, type: number, questionClass: number): Buffer {
  const header = Buffer.from([0x50, 0x4f, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const tail = Buffer.from([0, 0, type, 0, questionClass]);
  return Buffer.concat([header, Buffer.from(name, 'latin1'), tail]);
}

const isDnsResponse = (response: Uint8Array) =>
  response.length >= 12 &&
  response[0] === 0x50 &&
  response[1] === 0x4f &&
  ((response[2] as number) & 0x80) !== 0;

/**
 * SNMP: one read of sysDescr.0, sysObjectID.0 and sysName.0 with the factory-default community (RFC 1157, RFC 1901);
 * every agent has these three.
 */
function snmpRead(version: 0 | 1): Buffer {
  const system = [1, 2, 5].flatMap((item) => [0x30, 0x0c, 0x06, 0x08, 0x2b, 6, 1, 2, 1, 1, item, 0, 0x05, 0]);
  const bindings = [0x30, system.length, ...system];
  const request = [0x02, 2, 0x50, 0x4f, 0x02, 1, 0, 0x02, 1, 0, ...bindings];
  const community = [0x04, 6, ...Buffer.from('public', 'latin1')];
  const message = [0x02, 1, version, ...community, 0xa0, request.length, ...request];
  return Buffer.from([0x30, message.length, ...message]);
}

const isSequence = (response: Uint8Array) => response[0] === 0x30;

/** NTP: a client's request (RFC 5905), and the private request for the list of clients, mode 7, code 42. */
const ntpTime = Buffer.concat([Buffer.from([0xe3]), Buffer.alloc(47)]);
const ntpMonitor = Buffer.concat([Buffer.from([0x17, 0, 3, 42]), Buffer.alloc(44)]);
/** The control request that reads the variables of the system: operation 2, RFC 9327 section 2. */
const ntpVariables = Buffer.from([0x16, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
const isMode = (mode: number) => (response: Uint8Array) => ((response[0] ?? 0) & 7) === mode;

/** Attributes of the root entry by which directories identify their vendor and name (RFC 4512 section 5.1, MS-ADTS). */
const rootEntryNames = [
  'objectClass',
  'vendorName',
  'vendorVersion',
  'namingContexts',
  'supportedLDAPVersion',
  'domainControllerFunctionality',
  'dnsHostName',
];

/** Get Channel Authentication Capabilities of this channel, for a user: IPMI 2.0 section 22.13, no session. */
const ipmiCapabilities = Buffer.from('0600ff07000000000000000000092018c88100380e0237', 'hex');

/** One multicast DNS question that requests a unicast response (RFC 6762 section 5.4). */
function multicastQuery(...labels: string[]): Buffer {
  const name = labels.map((label) => String.fromCharCode(label.length) + label).join('');
  return Buffer.from(`PO\0\0\0\x01\0\0\0\0\0\0${name}\0\0\x0c\x80\x01`, 'latin1');
}

/** The host's own name: the PTR record of its address. */
function reverseQuery(host: string): Buffer | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) return null;
  return multicastQuery(...host.split('.').reverse(), 'in-addr', 'arpa');
}

const isResponse = (response: Uint8Array) => response.length >= 12 && ((response[2] as number) & 0x80) !== 0;

const furtherProbes: Readonly<Record<number, readonly UdpProbe[]>> = {
  53: [
    { name: 'dns-version', bytes: dnsQuery(0, '\x07version\x04bind', 16, 3), looksLike: isDnsResponse },
    // RFC 4892: identifies one of several servers; mostly its host name.
    { name: 'dns-id', bytes: dnsQuery(0, '\x02id\x06server', 16, 3), looksLike: isDnsResponse },
    { name: 'dns-id-2', bytes: dnsQuery(0, '\x08hostname\x04bind', 16, 3), looksLike: isDnsResponse },
    // The name servers of the root, recursion desired: every resolver knows them without another query.
    { name: 'dns-recursion', bytes: dnsQuery(1, '', 2, 1), looksLike: isDnsResponse },
  ],
  123: [
    { name: 'ntp-time', bytes: ntpTime, looksLike: isMode(4) },
    { name: 'ntp-variables', bytes: ntpVariables, looksLike: isMode(6) },
    { name: 'ntp-monlist', bytes: ntpMonitor, looksLike: isMode(7) },
  ],
  161: [
    { name: 'snmp-v2c-public', bytes: snmpRead(1), looksLike: isSequence },
    { name: 'snmp-v1-public', bytes: snmpRead(0), looksLike: isSequence },
    ...payloadsOf(161)
      .slice(0, 1)
      .map((payload) => ({ ...payload, name: 'snmp-v3' })),
  ],
  389: [
    {
      name: 'udp-ldap',
      bytes: rootEntrySearch(...rootEntryNames),
      looksLike: isSequence,
    },
  ],
  623: [
    ...payloadsOf(623),
    {
      name: 'udp-ipmi-2',
      bytes: ipmiCapabilities,
      looksLike: (response) => response[0] === 6 && response[3] === 7,
    },
  ],
  5353: [
    ...payloadsOf(5353),
    { name: 'udp-mdns-2', bytes: multicastQuery('_workstation', '_tcp', 'local'), looksLike: isResponse },
    { name: 'udp-mdns-3', bytes: multicastQuery('_device-info', '_tcp', 'local'), looksLike: isResponse },
    { name: 'udp-mdns-4', bytes: reverseQuery, looksLike: isResponse },
  ],
};

/** The payloads of a port as probes. */
function payloadsOf(port: number): UdpProbe[] {
  return (freshPayloads(port) ?? udpPayloads(port))
    .filter(({ answersElsewhere }) => !answersElsewhere)
    .slice(0, probeLimit)
    .map(({ service, bytes, looksLike }, at) => ({
      name: `udp-${service}${at === 0 ? '' : `-${at + 1}`}`,
      bytes,
      looksLike: looksLike ?? (() => true),
    }));
}

/** Probes of a UDP port; for most ports the payloads of their protocol again, to record the response. */
export function udpProbes(port: number): readonly UdpProbe[] {
  return furtherProbes[port] ?? payloadsOf(port);
}

/** The service that a response to this probe indicates; null for an unknown probe name. */
export function udpServiceOf(probe: string): string | null {
  if (probe.startsWith('dns-')) return 'dns';
  if (probe.startsWith('ntp-')) return 'ntp';
  if (probe.startsWith('snmp-')) return 'snmp';
  return /^udp-([a-z][a-z0-9-]*?)(?:-\d)?$/.exec(probe)?.[1] ?? null;
}

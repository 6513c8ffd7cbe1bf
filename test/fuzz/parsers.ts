import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { PortolanError } from '../../src/domain/errors.ts';
import { type Banner, describeBytes } from '../../src/domain/text/banner.ts';
import { compareVersions, type VersionScheme } from '../../src/domain/version-order.ts';
import { checks } from '../../src/knowledge/checks/all.ts';
import { CheckResponse } from '../../src/knowledge/checks/check.ts';
import { DeviceClaims, deviceClaimsOfFact } from '../../src/knowledge/hosts/host-device.ts';
import { factsOfBanner } from '../../src/knowledge/hosts/host-facts.ts';
import { hostnameOfFact, identityOfFact } from '../../src/knowledge/hosts/host-identity.ts';
import { SystemClaims, systemClaimsOfFact } from '../../src/knowledge/hosts/host-system.ts';
import { HostTraits, TraitTable } from '../../src/knowledge/hosts/host-traits.ts';
import { readRegistry } from '../../src/knowledge/hosts/oui.ts';
import { systemOfRevision, systemOfWindowsBuild } from '../../src/knowledge/hosts/system-rules.ts';
import { serviceOf, wantsTls } from '../../src/knowledge/probes/first-bytes.ts';
import { probeForGreeting, probes, probesAfter } from '../../src/knowledge/probes/probes.ts';
import { webProbes } from '../../src/knowledge/probes/web.ts';
import { parseCpe } from '../../src/knowledge/products/cpe.ts';
import * as announcement from '../../src/knowledge/protocols/announcement.ts';
import { parseBinaryService, parseDatagramService } from '../../src/knowledge/protocols/binary-service.ts';
import { parseClassicService } from '../../src/knowledge/protocols/classic-service.ts';
import { parseClusterService } from '../../src/knowledge/protocols/cluster-service.ts';
import { parseControlSystem } from '../../src/knowledge/protocols/control-system.ts';
import { parseDatabase } from '../../src/knowledge/protocols/database.ts';
import { parseDns } from '../../src/knowledge/protocols/dns.ts';
import { parseFtp } from '../../src/knowledge/protocols/ftp.ts';
import * as games from '../../src/knowledge/protocols/game-announcement.ts';
import { readPageFacts } from '../../src/knowledge/protocols/html-page.ts';
import { dechunk, parseHttp, unpack } from '../../src/knowledge/protocols/http.ts';
import * as httpText from '../../src/knowledge/protocols/http-text.ts';
import { versionText } from '../../src/knowledge/protocols/http-version-text.ts';
import { http2Text, startsHttp2, wantsHttp2 } from '../../src/knowledge/protocols/http2-text.ts';
import { parseInstrument } from '../../src/knowledge/protocols/instrument-service.ts';
import { parseKeyValueStore } from '../../src/knowledge/protocols/key-value-store.ts';
import { firstLine, parseMailbox } from '../../src/knowledge/protocols/mailbox.ts';
import { parseNtp, parseSnmp } from '../../src/knowledge/protocols/management.ts';
import { parseMediaService } from '../../src/knowledge/protocols/media-service.ts';
import { parseMongodb } from '../../src/knowledge/protocols/mongodb.ts';
import { parseMumble, readMumblePing } from '../../src/knowledge/protocols/mumble.ts';
import * as nameAnnouncement from '../../src/knowledge/protocols/name-announcement.ts';
import { parseNetworkService } from '../../src/knowledge/protocols/network-service.ts';
import { plainText } from '../../src/knowledge/protocols/plain-text.ts';
import {
  isEcho,
  isSecure,
  receivedResponses,
  sentRequests,
  serverBytes,
  serverText,
} from '../../src/knowledge/protocols/probe-session.ts';
import { parseRdp, parseRfb, parseX11 } from '../../src/knowledge/protocols/remote-screen.ts';
import { parseReplies } from '../../src/knowledge/protocols/reply.ts';
import { parseRpc } from '../../src/knowledge/protocols/rpc.ts';
import { parseRsync } from '../../src/knowledge/protocols/rsync.ts';
import { parseSmb } from '../../src/knowledge/protocols/smb.ts';
import { parseSmtp } from '../../src/knowledge/protocols/smtp.ts';
import { parseSsh } from '../../src/knowledge/protocols/ssh.ts';
import { detectTechnologies } from '../../src/knowledge/protocols/technology.ts';
import { parseCertificate, parseTls } from '../../src/knowledge/protocols/tls.ts';
import * as tunnel from '../../src/knowledge/protocols/tunnel.ts';
import { parseRecog } from '../../src/knowledge/recog/recog-file.ts';
import { iconPath, iconPrints } from '../../src/knowledge/requests/favicon.ts';
import { redirectPath } from '../../src/knowledge/requests/redirect.ts';
import type { ResponseForm } from '../../src/knowledge/requests/response-form.ts';
import { readGreeting, readResponse } from '../../src/knowledge/requests/response-reader.ts';
import { commonUdpPorts, udpPayloads } from '../../src/knowledge/requests/udp-payloads.ts';
import { udpProbes } from '../../src/knowledge/requests/udp-probes.ts';
import { claimsOf, resolveClaims } from '../../src/knowledge/rules/claims.ts';
import { builtinRules } from '../../src/knowledge/rules/rule-catalog.ts';
import { parseSignatures, placeJsonSignatures } from '../../src/knowledge/rules/signature-file.ts';
import {
  groupSizeRequest,
  keyExchangeRequest,
  readGroupBits,
  readHostKey,
} from '../../src/knowledge/ssh/host-key-request.ts';
import { sshWeaknesses } from '../../src/knowledge/ssh/ssh-weaknesses.ts';
import { readExtensions } from '../../src/knowledge/tls/certificate-extensions.ts';
import { acceptedCipherChange } from '../../src/knowledge/tls/early-cipher-change.ts';
import { leakedBytes } from '../../src/knowledge/tls/heartbeat.ts';
import { helloPrint } from '../../src/knowledge/tls/hello-print.ts';
import { reactionIn, rsaKeyOf } from '../../src/knowledge/tls/padding-oracle.ts';
import { ServerFlight } from '../../src/knowledge/tls/server-flight.ts';
import { bytesBehindName, readSession } from '../../src/knowledge/tls/session.ts';
import { readSsl2Hello } from '../../src/knowledge/tls/ssl2.ts';
import { cvss3BaseScore } from '../../src/knowledge/vulndb/cvss.ts';
import {
  cve5Record,
  epssFeed,
  kevFeed,
  nvdPage,
  nvdRecord,
} from '../../src/knowledge/vulndb/fixtures/feeds.ts';
import { FeedProblem } from '../../src/knowledge/vulndb/import/feed-bytes.ts';
import { importFeed } from '../../src/knowledge/vulndb/import/import-feed.ts';
import type { Connection } from '../../src/net/gate/gate.ts';
import { requestHttp2 } from '../../src/net/http2.ts';
import type { Pick } from './mutate.ts';
import {
  readRing,
  readSocketMessage,
  readSweepPacket,
  ringBlock,
  socketMessages,
  sweepPackets,
} from './packets.ts';
import * as recorded from './recorded.ts';

/** Code that reads bytes of others, and what such bytes look like when they are right. */
export interface FuzzedParser {
  name: string;
  /** The modules that it is there for, below `src/`. */
  covers: readonly string[];
  /** How many answers it gets for each one of the others: readers that take longer get fewer. */
  share: number;
  seeds: readonly Buffer[];
  /** Bytes of an answer at most; `largestAnswer` where it is left out. */
  largest?: number;
  /** @param pick for what is beside the bytes: which probe asked, where the answer was split */
  read(bytes: Buffer, pick: Pick): unknown;
  /** Longest time for an answer of so many bytes, ms; `longestMs` where it is left out. */
  longest?(bytes: number): number;
  /** Whether an error is how it says no; by default it must not throw at all. */
  refuses?(error: unknown): boolean;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const protocol = (name: string) => `knowledge/protocols/${name}.ts`;

const oneOf = <T>(list: readonly T[], pick: Pick) => list[pick(list.length)] as T;
const probeNames = ['null', ...probes.map(({ name }) => name)];
const controlProbes = [
  'modbus',
  'modbus-unit',
  'iso-tsap',
  'ethernet-ip',
  'iec-104',
  'dnp3',
  'niagara-fox',
  'fins',
];
const datagramNames = [
  53, 88, 123, 137, 161, 389, 500, 623, 1434, 1701, 1900, 3478, 3702, 5353, 5683,
].flatMap((port) => udpProbes(port).map(({ name }) => name));

const everyAnswer: readonly Buffer[] = [
  ...recorded.httpResponses,
  ...recorded.sshResponses,
  ...recorded.smtpResponses,
  ...recorded.ftpResponses,
  ...recorded.mailboxResponses,
  ...recorded.keyValueResponses,
  ...recorded.databaseResponses,
  ...recorded.framedDnsResponses,
  ...recorded.mongodbResponses,
  ...recorded.rfbResponses,
  ...recorded.rdpResponses,
  ...recorded.x11Responses,
  ...recorded.rpcResponses,
  ...recorded.rsyncResponses,
  ...recorded.smbResponses,
  ...recorded.networkResponses.map(([, answer]) => answer),
  ...recorded.otherResponses,
  ...recorded.smallResponses,
  ...recorded.announcements,
];

function bannerOf(bytes: Buffer, pick: Pick): Banner {
  const isUdp = pick(8) === 0;
  const probe = oneOf(isUdp ? datagramNames : probeNames, pick);
  const endpoint = { host: '192.0.2.1', port: 1 + pick(65_535), protocol: isUdp ? 'udp' : 'tcp' } as const;
  return { ...endpoint, ...describeBytes(bytes), probe, truncated: pick(2) === 0, partial: pick(2) === 0 };
}

/** The same bytes as the answers to several requests. */
function dialogueOf(bytes: Buffer, pick: Pick): Banner {
  const requests = ['', 'FEAT\r\n', 'STARTTLS\r\n', 'EHLO x\r\n', '\0\0\0\x08\x04\xd2\x16\x2f'];
  const exchange = [];
  for (let at = 0, left = pick(20); left > 0; left--) {
    const next = at + pick(bytes.length - at + 1);
    const sent = oneOf(requests, pick);
    exchange.push({
      sent_b64: latin1(sent).toString('base64'),
      received_b64: bytes.subarray(at, next).toString('base64'),
    });
    at = next;
  }
  return { ...bannerOf(bytes.subarray(0, pick(bytes.length + 1)), pick), exchange };
}

/** Every form but the one that reads to the end. */
const forms: readonly ResponseForm[] = [
  'line',
  'ssh-version',
  'ssh-packet',
  'reply',
  'tagged',
  'dotted',
  'capabilities',
  'irc',
  'packet-lines',
  'stun',
  'dsi',
  'http',
  'redis',
  'mysql',
  'postgresql',
  'dns',
  'rfb-security',
  'tpkt',
  'x11',
  'framed',
  'rpc',
  'mongodb',
  'tds',
  'tns',
  'counted',
  'cassandra',
  'ldap',
  'dcerpc',
  'mqtt',
  'mqtt-publish',
  'amqp',
  'head',
  'xml-stream',
  'byte',
  'two',
  'word',
  'five',
  'eight',
  'closed-list',
  'festival',
  'adc',
  'gdb',
  'telnet',
  'end-of-text',
  'rtmp',
  'owserver',
  'snapcast',
  'rtr',
  'deluge',
  'moosefs',
];

/** Lets a reader see the bytes come in pieces, up to the end that it finds. */
function arrive(bytes: Buffer, pick: Pick, take: (soFar: Buffer) => boolean): void {
  for (let at = 0; at < bytes.length; ) {
    at = Math.min(bytes.length, at + 1 + pick(pick(4) === 0 ? 16 : 4096));
    if (take(bytes.subarray(0, at))) return;
  }
}

function readInPieces(bytes: Buffer, pick: Pick): unknown {
  const reader = pick(4) === 0 ? readGreeting() : readResponse(oneOf(forms, pick), 1 + pick(65_536));
  let end = 0;
  arrive(bytes, pick, (soFar) => {
    end = reader.end(soFar);
    if (!Number.isInteger(end) || end < 0 || end > soFar.length) throw new Error(`an answer ends at ${end}`);
    return end > 0;
  });
  return [end, reader.capped];
}

function readFlight(bytes: Buffer, pick: Pick): unknown {
  const flight = new ServerFlight();
  arrive(bytes, pick, (soFar) => flight.read(soFar));
  const { hello, key, certificates, alert, foreign } = flight;
  if ((certificates?.length ?? 0) > 16) throw new Error('more certificates than are read');
  return [hello?.suite, key, alert, foreign, readSsl2Hello(bytes)];
}

function tellOfHost(bytes: Buffer, pick: Pick): unknown {
  const traits = new HostTraits('192.0.2.1', new TraitTable());
  const [systems, devices] = [new SystemClaims(), new DeviceClaims()];
  for (const fact of factsOfBanner(bannerOf(bytes, pick))) {
    traits.addFact(fact);
    systems.add(systemClaimsOfFact(fact));
    devices.add(deviceClaimsOfFact(fact));
    hostnameOfFact(fact);
    identityOfFact(fact);
  }
  return [traits.profile(), systems.verdict(), systems.evidence(), devices.verdict(), devices.evidence()];
}

const sources = [...new Set(builtinRules.signatures.map(({ source }) => source))];
const evidenceTexts = builtinRules.signatures.flatMap(({ examples }) =>
  examples.map(({ text }) => latin1(text)),
);

/** Whatever these modules read, also what they will read later. */
const datagramReaders: readonly ((bytes: Buffer, protocol: 'tcp' | 'udp') => unknown)[] = [
  ...Object.values(announcement),
  ...Object.values(nameAnnouncement),
  ...Object.values(tunnel),
];

// The roots are read when they are first asked for, which is not the time that an answer takes.
parseTls({
  version: 'x',
  cipher: 'x',
  alpn: null,
  chain: [recorded.certificates[0]?.toString('base64') ?? ''],
});

/** What is asked next depends on what the service said. */
const askingBack = [...probes, ...webProbes].flatMap(({ steps, inside = [] }) =>
  [...steps, ...inside].flatMap(({ send }) => (typeof send === 'function' ? [send] : [])),
);

const pagesWithLinks = [
  'HTTP/1.1 301 Moved\r\nLocation: /a/b?c=d\r\n\r\n',
  'HTTP/1.1 302 Found\r\nLocation: http://a.example/x\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<meta http-equiv=refresh content="0; url=/start">',
  'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<link rel="shortcut icon" href="img/a.png">',
].map(latin1);

/** A peer that has said all that it says, and takes whatever it is sent. */
function connectionThatSays(bytes: Buffer, pick: Pick): Connection {
  let at = 0;
  const connection: Connection = {
    latencyMs: 1,
    truncated: false,
    tlsAlert: null,
    exchanges: [],
    async read() {
      // No answer comes before its question.
      await setImmediate();
      const start = at;
      at = Math.min(bytes.length, at + 1 + pick(4096));
      return { bytes: bytes.subarray(start, at), end: start < bytes.length ? 'match' : 'closed' };
    },
    write: async () => true,
    endAfter: () => undefined,
    startTls: async () => ({ reason: 'none' }),
    examineTls: async () => ({ reason: 'none' }),
    close: () => undefined,
  };
  return connection;
}

const payloads = commonUdpPorts.flatMap((port) => udpPayloads(port));
const questions = commonUdpPorts.flatMap((port) => udpProbes(port));

const feeds: readonly Buffer[] = [
  JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000'), nvdRecord('CVE-2026-1001')], 7, 4)),
  JSON.stringify({ ...nvdRecord('CVE-2026-1000'), published: undefined, annotation: {} }),
  JSON.stringify(
    cve5Record('CVE-2025-1000', {
      affected: [
        { vendor: 'a', product: 'b', versions: [{ status: 'affected', version: '1', lessThan: '2' }] },
      ],
    }),
  ),
  JSON.stringify(kevFeed(['CVE-2026-1000', 'CVE-2026-1001'])),
  epssFeed([
    ['CVE-2026-1000', 0.1, 0.2],
    ['CVE-2026-1001', 0.3, 0.4],
  ]),
  JSON.stringify({
    packages: [
      { distro: 'debian', release: '12', source: 'openssh', fixedIn: { 'CVE-2026-1000': '1:9.2p1-2' } },
    ],
  }),
].map((text) => Buffer.from(text));

const sink = { addRecord: ignore, addFixes: ignore, setKev: ignore, setEpss: ignore };
function ignore(): void {}

async function* inPieces(bytes: Buffer, pick: Pick): AsyncGenerator<Uint8Array> {
  const middle = pick(bytes.length + 1);
  yield bytes.subarray(0, middle);
  yield bytes.subarray(middle);
}

const signatureFile = `signatures:
  - id: acme-httpd
    description: The web server of Acme
    service: http
    source: http.header.server
    pattern: '^AcmeHTTPd/(?P<version>\\d+(?:\\.\\d+)*)(?: \\((?P<revision>[^)]+)\\))?$'
    flags: i
    product: Acme HTTPd
    vendor: acme
    version: '{version}'
    cpe: { part: a, vendor: acme, product: httpd, version: '{version}' }
    certainty: 0.9
    os: { family: linux, distribution: debian, version: '12' }
    examples:
      - { text: 'AcmeHTTPd/2.4.1 (Debian-2)', version: 2.4.1, revision: Debian-2 }
`;

const jsonSignatures = JSON.stringify({
  signatures: [
    {
      id: 'acme-ftpd',
      service: 'ftp',
      source: 'ftp.greeting',
      pattern: '^Acme (?:FTPd|Server) v?([\\d.]{1,20}) ready',
      product: 'Acme FTPd',
      vendor: null,
      version: '{1}',
      certainty: 0.8,
      examples: [{ text: 'Acme FTPd 1.2 ready', version: '1.2' }],
    },
  ],
});

const recogFile = `<?xml version="1.0"?>
<fingerprints matches="ssh.banner" protocol="ssh" preference="0.90">
<!-- an example -->
<fingerprint pattern="^ShellBox_([\\d.]+)(?: \\(([^)]+)\\))?$" flags="REG_ICASE">
  <description>ShellBox &amp; Co</description>
  <example service.version="3.1">shellbox_3.1 (Linux)</example>
  <example _encoding="base64" service.version="3.2">U2hlbGxCb3hfMy4y</example>
  <param pos="0" name="service.product" value="ShellBox"/>
  <param pos="1" name="service.version"/>
  <param pos="0" name="service.cpe23" value="cpe:/a:box%26sons:shellbox:{service.version}"/>
</fingerprint>
</fingerprints>
`;

const registryText = `OUI/MA-L\t\tOrganization
00-00-0C   (hex)\t\tCisco Systems, Inc
00000C     (base 16)\t\tCisco Systems, Inc
MA-L,0050C2,"IEEE ""REGISTRATION"" AUTHORITY","x"
000569 VMware
`;

const shortTexts = [
  'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*',
  'cpe:2.3:o:microsoft:windows_10\\(x\\):10.0.19045:*:*:*:*:*:x64:*',
  'cpe:/a:apache:http_server:2.4.57',
  'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  '1:9.2p1-2+deb12u7',
  '2.4.57-2.el9_4.1',
  '1.0.2k-fips',
  '15.1X49-D60',
  '12.2(33)SXI4a',
  '10.0.20348',
  '8.0.0-rc.1+build.5',
  'OpenSSH_9.6p1 Ubuntu-3ubuntu13.5',
].map(latin1);

const schemes: readonly VersionScheme[] = [
  'dotted',
  'openssh',
  'mariadb',
  'cisco_ios',
  'junos',
  'semver',
  'date',
  'deb',
  'rpm',
];

const isRefusal = (error: unknown) => error instanceof PortolanError;

/** Everything that reads what others send: answers of targets, packets, feeds and files that people import. */
export const parsers: readonly FuzzedParser[] = [
  {
    name: 'http',
    covers: [protocol('http'), protocol('technology')],
    share: 5,
    seeds: recorded.httpResponses,
    read: (bytes, pick) => {
      const record = parseHttp(bytes, pick(4) === 0 ? 1 + pick(4096) : undefined);
      const headers = new Map(Object.entries(record?.facts.headers ?? {}));
      const markup = bytes.toString('latin1').toLowerCase();
      return [
        record?.facts,
        detectTechnologies({
          headers,
          cookies: [markup.slice(0, 64)],
          generator: markup.slice(0, 200),
          markup,
        }),
      ];
    },
  },
  {
    name: 'pages',
    covers: [protocol('html-page')],
    share: 5,
    seeds: [
      ...recorded.httpResponses,
      ...[
        '<!-- a --><meta charset=gbk><title>\xb2\xe2 &amp; &#8364;</title><svg><title>x</title></svg>',
        '<?xml version="1.0" encoding="euc-kr"?><h:title><![CDATA[\xb0\xfc]]></h:title>',
        '\xff\xfe<\0t\0i\0t\0l\0e\0>\0a\0',
      ].map(latin1),
    ],
    read: (bytes, pick) =>
      readPageFacts(
        bytes,
        ['', 'text/html; charset=iso-2022-jp', 'text/xml', 'text/html; charset=gb18030'][pick(4)] as string,
      ),
  },
  {
    name: 'http texts',
    covers: [protocol('http-text'), protocol('http-version-text'), protocol('http2-text')],
    share: 5,
    seeds: [
      ...recorded.httpResponses,
      ...['Linux/4.9 UPnP/1.0 MiniDLNA/1.3.0', 'Apache/2.4.57 (Debian) mod_ssl/2.4.57 OpenSSL/3.0.11'].map(
        latin1,
      ),
      latin1('go_info{version="go1.21"} 1\nprometheus_build_info{branch="HEAD",version="2.45.0"} 1\n'),
    ],
    read: (bytes) => {
      const text = bytes.toString('latin1');
      return [
        httpText.pageText(bytes).length,
        httpText.buildLines(text),
        httpText.serverProducts(text),
        httpText.namedProduct(text),
        versionText(text),
        wantsHttp2(text),
        startsHttp2(bytes),
        http2Text({ status: 200, headers: [['server', text]], body: bytes }).length,
      ];
    },
  },
  {
    name: 'http body',
    covers: [protocol('http')],
    share: 5,
    seeds: [
      latin1('5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n'),
      ...recorded.httpResponses.map((answer) => gzipSync(answer)),
    ],
    read: (bytes, pick) => [
      dechunk(bytes).body.length,
      unpack(bytes, oneOf(['gzip', 'deflate', 'br', 'x-gzip', 'identity'], pick), 65_536).body.length,
    ],
  },
  {
    name: 'ssh',
    covers: [protocol('ssh'), 'knowledge/ssh/ssh-weaknesses.ts'],
    share: 10,
    seeds: recorded.sshResponses,
    read: (bytes) => {
      const record = parseSsh(bytes);
      return record && [record.facts, sshWeaknesses(record.facts)];
    },
  },
  {
    name: 'ssh key exchange',
    covers: ['knowledge/ssh/host-key-request.ts'],
    share: 20,
    seeds: [recorded.keyExchangeReply, recorded.groupReply],
    read: (bytes) => [readHostKey(bytes), readGroupBits(bytes)],
  },
  {
    name: 'smtp',
    covers: [protocol('smtp'), protocol('reply')],
    share: 20,
    seeds: recorded.smtpResponses,
    read: (bytes) => [parseSmtp(bytes), parseReplies(bytes)],
  },
  {
    name: 'ftp',
    covers: [protocol('ftp'), protocol('reply')],
    share: 20,
    seeds: recorded.ftpResponses,
    read: (bytes, pick) => parseFtp(bytes, pick(2) === 0 ? ['FEAT\r\n', 'SYST\r\n'] : ['USER anonymous\r\n']),
  },
  {
    name: 'mailbox',
    covers: [protocol('mailbox')],
    share: 20,
    seeds: recorded.mailboxResponses,
    read: (bytes, pick) => [parseMailbox(bytes, oneOf(probeNames, pick)), firstLine(bytes)],
  },
  {
    name: 'key-value store',
    covers: [protocol('key-value-store')],
    share: 20,
    seeds: recorded.keyValueResponses,
    read: (bytes) => parseKeyValueStore(bytes),
  },
  {
    name: 'database',
    covers: [protocol('database')],
    share: 20,
    seeds: recorded.databaseResponses,
    read: (bytes, pick) => parseDatabase(bytes, oneOf(probeNames, pick)),
  },
  {
    name: 'dns',
    covers: [protocol('dns')],
    share: 20,
    seeds: [...recorded.dnsResponses, ...recorded.framedDnsResponses],
    read: (bytes) => [parseDns(bytes, 'udp'), parseDns(bytes, 'tcp')],
  },
  {
    name: 'snmp and ntp',
    covers: [protocol('management')],
    share: 20,
    seeds: [...recorded.snmpResponses, ...recorded.ntpResponses],
    read: (bytes) => [parseSnmp(bytes), parseNtp(bytes)],
  },
  {
    name: 'mongodb',
    covers: [protocol('mongodb')],
    share: 20,
    seeds: recorded.mongodbResponses,
    read: (bytes) => parseMongodb(bytes),
  },
  {
    name: 'remote screens',
    covers: [protocol('remote-screen')],
    share: 20,
    seeds: [...recorded.rfbResponses, ...recorded.rdpResponses, ...recorded.x11Responses],
    read: (bytes) => [parseRfb(bytes), parseRdp(bytes), parseX11(bytes)],
  },
  {
    name: 'rpc',
    covers: [protocol('rpc')],
    share: 20,
    seeds: recorded.rpcResponses,
    read: (bytes) => [parseRpc(bytes, 'tcp'), parseRpc(bytes, 'udp')],
  },
  {
    name: 'rsync',
    covers: [protocol('rsync')],
    share: 20,
    seeds: recorded.rsyncResponses,
    read: (bytes) => parseRsync(bytes),
  },
  {
    name: 'smb',
    covers: [protocol('smb')],
    share: 20,
    seeds: recorded.smbResponses,
    read: (bytes) => parseSmb(bytes),
  },
  {
    name: 'classic services, Mumble',
    covers: [protocol('classic-service'), protocol('mumble'), protocol('plain-text')],
    share: 10,
    seeds: recorded.smallResponses,
    read: (bytes) => [
      parseClassicService(bytes),
      parseMumble(bytes),
      readMumblePing(bytes),
      plainText(bytes.toString('latin1')),
    ],
  },
  {
    name: 'media and instruments',
    covers: [protocol('media-service'), protocol('instrument-service')],
    share: 10,
    seeds: recorded.mediaResponses.map(([, answer]) => answer),
    read: (bytes, pick) => {
      const [probe] = oneOf(recorded.mediaResponses, pick);
      return parseMediaService(bytes, probe) ?? parseInstrument(bytes, probe);
    },
  },
  {
    name: 'games',
    covers: [protocol('game-announcement')],
    share: 5,
    seeds: recorded.gameResponses,
    read: (bytes) => [
      games.readQuake(bytes),
      games.readSourceEngine(bytes),
      games.readBedrock(bytes),
      games.readTeeworlds(bytes),
      games.readMinetest(bytes),
    ],
  },
  {
    name: 'agents and clusters',
    covers: [protocol('cluster-service')],
    share: 20,
    seeds: recorded.clusterResponses.map(([, answer]) => answer),
    read: (bytes, pick) => parseClusterService(bytes, oneOf(recorded.clusterResponses, pick)[0]),
  },
  {
    name: 'directories and databases',
    covers: [protocol('network-service')],
    share: 20,
    seeds: recorded.networkResponses.map(([, answer]) => answer),
    read: (bytes, pick) => parseNetworkService(bytes, oneOf(recorded.networkResponses, pick)[0]),
  },
  {
    name: 'binary services',
    covers: [protocol('binary-service')],
    share: 10,
    seeds: [
      ...recorded.rfbResponses,
      ...recorded.rdpResponses,
      ...recorded.x11Responses,
      ...recorded.smbResponses,
      ...recorded.rpcResponses,
      ...recorded.rsyncResponses,
      ...recorded.mongodbResponses,
      ...recorded.snmpResponses,
      ...recorded.ntpResponses,
    ],
    read: (bytes, pick) => [
      parseBinaryService(bytes, oneOf(['x11', 'nfs', 'rpcbind', 'generic'], pick)),
      parseDatagramService(bytes, oneOf(datagramNames, pick)),
    ],
  },
  {
    name: 'control systems',
    covers: [protocol('control-system')],
    share: 3,
    seeds: [
      '504f 0000 000e 01 2b0e01010000 01 00 04 41636d65',
      '03000016 11d0504f000300c0010ac1020100c2020102',
      '6300 2700 00000000 00000000 504f52544f4c414e 00000000 0100 0c00 2100 0100 0002af12 0a000001 0000000000000000 0100 0e00 3600 1402 3000 78563412 01 41',
      '680483000000',
      '0564050b504f0a00 0000',
      '666f78206120 30 202d3120666f782068656c6c6f0a7b0a686f73744e616d653d733a61 0a7d3b3b0a',
      '46494e53 00000010 00000001 00000000 000000fb 00000001',
    ].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex')),
    read: (bytes, pick) => parseControlSystem(bytes, oneOf(controlProbes, pick)),
  },
  {
    name: 'announcements and tunnels',
    covers: [protocol('announcement'), protocol('name-announcement'), protocol('tunnel')],
    share: 5,
    seeds: recorded.announcements,
    read: (bytes, pick) => datagramReaders.map((read) => read(bytes, pick(2) === 0 ? 'tcp' : 'udp')),
  },
  {
    name: 'udp answers',
    covers: ['knowledge/requests/udp-payloads.ts', 'knowledge/requests/udp-probes.ts'],
    share: 5,
    seeds: [
      ...recorded.dnsResponses,
      ...recorded.snmpResponses,
      ...recorded.ntpResponses,
      ...payloads.map(({ bytes }) => Buffer.from(bytes)),
    ],
    read: (bytes) => {
      let alike = 0;
      for (const { looksLike } of payloads) if (looksLike?.(bytes)) alike += 1;
      for (const { looksLike } of questions) if (looksLike(bytes)) alike += 1;
      return alike;
    },
  },
  {
    name: 'probe-session',
    covers: [protocol('probe-session'), protocol('repeated-request')],
    share: 5,
    seeds: everyAnswer,
    read: (bytes, pick) => {
      const banner = dialogueOf(bytes, pick);
      return [
        serverBytes(banner).length,
        serverText(banner).length,
        isEcho(banner),
        receivedResponses(banner).length,
        sentRequests(banner),
        isSecure(banner),
      ];
    },
  },
  {
    name: 'ends of answers',
    covers: ['http-reader', 'line-reader', 'message-length', 'response-reader'].map(
      (name) => `knowledge/requests/${name}.ts`,
    ),
    share: 20,
    seeds: [...everyAnswer, ...recorded.tlsFlights],
    read: readInPieces,
  },
  {
    name: 'first bytes',
    covers: ['knowledge/probes/first-bytes.ts', 'knowledge/probes/probes.ts'],
    share: 5,
    seeds: everyAnswer,
    read: (bytes, pick) => {
      const port = 1 + pick(65_535);
      return [
        serviceOf(bytes),
        wantsTls(bytes),
        probeForGreeting(bytes, port)?.name,
        probesAfter(bytes, port, { intrusive: true, thorough: true, secure: true }).length,
      ];
    },
  },
  {
    name: 'tls handshakes',
    covers: ['knowledge/tls/server-flight.ts', 'knowledge/tls/ssl2.ts'],
    share: 20,
    seeds: recorded.tlsFlights,
    read: readFlight,
  },
  {
    name: 'prints of hellos',
    covers: ['knowledge/tls/hello-print.ts'],
    share: 20,
    seeds: recorded.tlsFlights,
    read: (bytes, pick) => {
      const flight = new ServerFlight();
      flight.read(bytes);
      return flight.hello && helloPrint(flight.hello, pick(2) === 0).length;
    },
  },
  {
    name: 'reactions of tls servers',
    covers: [
      'knowledge/tls/heartbeat.ts',
      'knowledge/tls/padding-oracle.ts',
      'knowledge/tls/early-cipher-change.ts',
    ],
    share: 20,
    seeds: recorded.tlsReactions,
    read: (bytes, pick) => {
      const leaked = leakedBytes(bytes);
      if (leaked !== 'more' && (leaked < 0 || leaked > bytes.length))
        throw new Error(`${leaked} bytes leaked`);
      const reaction = reactionIn(bytes, pick(2) === 0 ? 'closed' : 'open');
      if (reaction.length > 200) throw new Error('a reaction of more than 200 characters');
      return [leaked, reaction, acceptedCipherChange(bytes)];
    },
  },
  {
    name: 'tls sessions',
    covers: ['knowledge/tls/session.ts', 'knowledge/tls/der-reader.ts'],
    share: 20,
    seeds: recorded.tlsSessions,
    read: (bytes, pick) => {
      const name = bytes.subarray(0, pick(17));
      return [readSession(bytes), bytesBehindName(name, bytes.subarray(0, pick(33)))];
    },
  },
  {
    name: 'extensions of certificates',
    covers: ['knowledge/tls/certificate-extensions.ts', 'knowledge/tls/der-reader.ts'],
    share: 20,
    seeds: recorded.certificates,
    read: (bytes) => readExtensions(bytes),
  },
  {
    name: 'keys of certificates',
    covers: ['knowledge/tls/padding-oracle.ts'],
    share: 1,
    seeds: recorded.certificates,
    read: (bytes) => rsaKeyOf(bytes)?.asymmetricKeyDetails?.modulusLength,
  },
  {
    name: 'second questions',
    covers: [
      'knowledge/requests/http-request.ts',
      'knowledge/ssh/host-key-request.ts',
      'knowledge/probes/web.ts',
    ],
    share: 5,
    seeds: everyAnswer,
    read: (bytes, pick) => {
      const send = oneOf(askingBack, pick);
      const messages = [
        send('192.0.2.1', bytes, 1 + pick(65_535)),
        keyExchangeRequest(bytes, 'rsa'),
        groupSizeRequest(bytes),
      ];
      if (messages.some(({ length }) => length > 16_384)) throw new Error('a question of more than 16 KiB');
      return messages.length;
    },
  },
  {
    name: 'links of pages',
    covers: [
      'knowledge/requests/favicon.ts',
      'knowledge/requests/redirect.ts',
      'knowledge/requests/murmur3.ts',
    ],
    share: 5,
    seeds: [...recorded.httpResponses, ...pagesWithLinks],
    read: (bytes, pick) => {
      const place = { host: '192.0.2.1', port: 80, name: pick(2) === 0 ? 'a.example' : null, secure: false };
      const paths = [iconPath(bytes, place), redirectPath(bytes, place)];
      for (const path of paths) {
        if (path !== null && !/^\/[!-~]*$/.test(path)) throw new Error(`not a path: ${JSON.stringify(path)}`);
      }
      const record = parseHttp(bytes);
      return [paths, record && iconPrints(record)];
    },
  },
  {
    name: 'http/2 connections',
    covers: ['net/http2.ts'],
    share: 0.2,
    seeds: recorded.http2Responses,
    read: async (bytes, pick) => {
      const answer = await requestHttp2(connectionThatSays(bytes, pick), {
        authority: 'a.example',
        path: '/',
        secure: true,
        userAgent: 'x',
        idleMs: 20,
        maxBody: 4096,
      });
      if (answer && answer.body.length > 4096) throw new Error('more than was asked for');
      return answer?.status;
    },
  },
  {
    name: 'certificates',
    covers: [protocol('tls'), 'knowledge/tls/chain.ts'],
    share: 1,
    seeds: recorded.certificates,
    read: (bytes, pick) => {
      const leaf = bytes.toString('base64');
      if (pick(4) > 0) return parseCertificate(leaf);
      const chain = Array.from({ length: pick(4) }, () =>
        oneOf(recorded.certificates, pick).toString('base64'),
      );
      return parseTls({ version: 'TLSv1.3', cipher: 'x', alpn: null, chain: [leaf, ...chain] });
    },
  },
  {
    name: 'signatures',
    covers: [
      'knowledge/rules/rule-catalog.ts',
      'knowledge/rules/matcher.ts',
      'knowledge/rules/literal-scan.ts',
    ],
    share: 5,
    seeds: evidenceTexts,
    read: (bytes, pick) => builtinRules.match(oneOf(sources, pick), bytes.toString('latin1')),
  },
  {
    name: 'whole recognition',
    covers: ['knowledge/rules/evidence.ts', 'knowledge/rules/claims.ts'],
    share: 2,
    seeds: [...everyAnswer, ...recorded.signatureResponses],
    read: (bytes, pick) => {
      const banner = bannerOf(bytes, pick);
      if (pick(8) === 0) {
        const chain = [oneOf(recorded.certificates, pick).toString('base64')];
        banner.tls = { version: 'TLSv1.2', cipher: 'x', alpn: 'h2', chain };
      }
      const claims = claimsOf(banner, builtinRules, ['banner', 'http', 'tls']);
      const record = resolveClaims(banner, claims, { minConfidence: 0.5, maxProtocols: 3 });
      if (JSON.stringify(record).length > 20_000) throw new Error('a record of more than 20,000 characters');
      return record;
    },
  },
  {
    name: 'what is told of hosts',
    covers: [
      'knowledge/hosts/host-facts.ts',
      'knowledge/hosts/host-system.ts',
      'knowledge/hosts/host-device.ts',
      'knowledge/hosts/host-identity.ts',
      'knowledge/hosts/host-traits.ts',
      'knowledge/hosts/trait-rules.ts',
    ],
    share: 2,
    seeds: [...everyAnswer, ...recorded.signatureResponses],
    read: tellOfHost,
  },
  {
    name: 'checks',
    covers: ['knowledge/checks/all.ts'],
    share: 3,
    seeds: everyAnswer,
    read: (bytes, pick) => {
      const answer = new CheckResponse(
        bannerOf(bytes, pick),
        pick(2) === 0 ? 'a.example' : null,
        1_795_000_000_000,
      );
      return checks.map((check) => check.prove(answer));
    },
  },
  {
    name: 'versions and names',
    covers: [
      'domain/version-order.ts',
      'knowledge/products/cpe.ts',
      'knowledge/vulndb/cvss.ts',
      'knowledge/hosts/system-rules.ts',
    ],
    share: 20,
    seeds: shortTexts,
    read: (bytes, pick) => {
      const text = bytes.toString('latin1');
      const other = oneOf(shortTexts, pick).toString('latin1');
      const scheme = oneOf(schemes, pick);
      return [
        compareVersions(text, other, scheme),
        parseCpe(text),
        cvss3BaseScore(text),
        systemOfRevision(text),
        systemOfWindowsBuild(text),
      ];
    },
  },
  {
    name: 'packets of a sweep',
    covers: ['net/packets/frame/response-reader.ts', 'net/packets/frame/stack-traits.ts'],
    share: 2,
    seeds: sweepPackets,
    read: (bytes) => readSweepPacket(bytes),
  },
  {
    name: 'receive ring',
    covers: ['net/packets/engine/ring.ts'],
    share: 10,
    seeds: [ringBlock],
    read: (bytes) => readRing(bytes),
  },
  {
    name: 'messages of sockets',
    covers: [
      'net/packets/linux/neighbor-frame.ts',
      'net/packets/frame/echo.ts',
      'net/packets/linux/udp-socket.ts',
      'net/packets/linux/netlink.ts',
    ],
    share: 20,
    seeds: [...socketMessages, ...sweepPackets],
    read: (bytes) => readSocketMessage(bytes),
  },
  {
    name: 'vulnerability feeds',
    covers: [
      'knowledge/vulndb/import/import-feed.ts',
      'knowledge/vulndb/import/json-feed.ts',
      'knowledge/vulndb/import/feed-bytes.ts',
    ],
    share: 1,
    seeds: [...feeds, ...feeds.slice(0, 2).map((feed) => gzipSync(feed))],
    read: async (bytes, pick) => await importFeed(inPieces(bytes, pick), sink, 1024 * 1024),
    refuses: (error) => error instanceof FeedProblem,
  },
  {
    name: 'fingerprint rules',
    covers: ['knowledge/rules/signature-file.ts', 'knowledge/rules/yaml-shape.ts'],
    share: 0.2,
    seeds: [Buffer.from(signatureFile), Buffer.from(jsonSignatures)],
    read: (bytes, pick) =>
      (pick(3) === 0 ? placeJsonSignatures : parseSignatures)(bytes.toString('utf8'), 'rules').length,
    // Files that somebody imports: the YAML reader goes on through every error to the end of the file.
    largest: 8192,
    longest: (bytes) => 100 + bytes / 20,
    refuses: isRefusal,
  },
  {
    name: 'recog databases',
    covers: ['knowledge/recog/recog-file.ts', 'knowledge/recog/xml-reader.ts'],
    share: 2,
    seeds: [Buffer.from(recogFile)],
    read: (bytes) => parseRecog(bytes.toString('utf8'), 'rules.xml').length,
    refuses: isRefusal,
  },
  {
    name: 'registry of vendors',
    covers: ['knowledge/hosts/oui.ts'],
    share: 10,
    seeds: [Buffer.from(registryText)],
    read: (bytes) => readRegistry(bytes.toString('utf8')).size,
  },
];

/** @throws Error for a name that none has */
export function parserNamed(name: string): FuzzedParser {
  const parser = parsers.find((each) => each.name === name);
  if (!parser) throw new Error(`no parser is named ${name}`);
  return parser;
}

import { faviconName } from '../requests/favicon.ts';
import { httpRequestFor } from '../requests/http-request.ts';
import { redirectNames } from '../requests/redirect.ts';
import { groupSizeRequest, keyExchangeRequest, offeredExchange } from '../ssh/ssh-key-exchange.ts';
import { backendProbes } from './backend.ts';
import { classicProbes, furtherClassicProbes } from './classic.ts';
import { clusterProbes } from './cluster.ts';
import { databaseProbes } from './database.ts';
import { furtherInfrastructureProbes, infrastructureProbes } from './infrastructure.ts';
import { instrumentProbes } from './instrument.ts';
import { mailProbes } from './mail.ts';
import { mediaProbes } from './media.ts';
import { messageProbes } from './message.ts';
import { furtherNetworkProbes, networkProbes } from './network.ts';
import type { Probe } from './probe.ts';
import { webProbes } from './web.ts';

/** Ports that print or do worse with what they receive: nothing is sent there, not even a connection. */
export function isUntouchable(port: number): boolean {
  return (port >= 9100 && port <= 9107) || port === 515 || port === 631;
}

/** Ports where TLS starts at once. */
export const tlsPorts: ReadonlySet<number> = new Set([
  443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 4443, 5061, 5349, 5671, 5986, 6443, 6514, 6697,
  8443, 8531, 8883, 9443, 10443, 64738,
]);

/** Names of the further questions to an SSH server. */
export const sshRsaKeyName = 'ssh-rsa-key';
export const sshGroupSizeName = 'ssh-group-size';

const httpRequest = httpRequestFor('/');

/** PostgreSQL SSLRequest: length 8, code 80877103. */
const postgresqlSslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** PostgreSQL startup message, protocol 3.0; the server refuses the unknown user with an ErrorResponse. */
function postgresqlStartup(): Buffer {
  const parameters = Buffer.from('\0\x03\0\0user\0portolan\0database\0portolan\0\0', 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(parameters.length + 4);
  return Buffer.concat([length, parameters]);
}

/** DNS over TCP: TXT query of class CHAOS for version.bind, id 0x504f. */
function versionBindQuery(): Buffer {
  const header = Buffer.from([0x50, 0x4f, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const question = Buffer.from('\x07version\x04bind\0\0\x10\0\x03', 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(header.length + question.length);
  return Buffer.concat([length, header, question]);
}

/**
 * PostgreSQL startup message of protocol 2.0, 296 bytes. Everything that speaks the protocol refuses it, or the unknown
 * user, in words of its own.
 */
function postgresqlOldStartup(): Buffer {
  const message = Buffer.alloc(296);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt16BE(2, 4);
  message.write('portolan', 8, 'latin1');
  message.write('portolan', 72, 'latin1');
  return message;
}

const http: Probe = {
  name: 'http',
  service: 'http',
  ports: [
    80, 81, 591, 2375, 3000, 3128, 5000, 5357, 5601, 5985, 7001, 8000, 8008, 8080, 8081, 8088, 8090, 8888,
    9000, 9090, 9200,
  ],
  greeting: null,
  steps: [{ send: httpRequest, answer: 'http' }],
};

const ssh: Probe = {
  name: 'ssh',
  service: 'ssh',
  ports: [22, 222, 830, 2022, 2222, 22222],
  greeting: 'ssh-version',
  steps: [
    { send: 'SSH-2.0-Portolan\r\n', answer: 'ssh-packet', proceed: offeredExchange },
    { send: (_host, said) => keyExchangeRequest(said), answer: 'ssh-packet' },
  ],
};

const smtp: Probe = {
  name: 'smtp',
  service: 'smtp',
  ports: [25, 465, 587, 2525],
  greeting: 'reply',
  steps: [
    { send: 'EHLO portolan.invalid\r\n', answer: 'reply', proceed: /^5/ },
    // RFC 2033 section 4.1: who delivers into mailboxes greets alike and knows only this.
    { send: 'LHLO portolan.invalid\r\n', answer: 'reply' },
  ],
  upgrade: {
    offered: /^250[- ]STARTTLS\r?$/im,
    request: { send: 'STARTTLS\r\n', answer: 'reply', accepted: /^220/ },
  },
  farewell: 'QUIT\r\n',
};

const ftp: Probe = {
  name: 'ftp',
  service: 'ftp',
  ports: [21, 990, 2121],
  greeting: 'reply',
  steps: [
    { send: 'FEAT\r\n', answer: 'reply' },
    { send: 'SYST\r\n', answer: 'reply' },
  ],
  upgrade: {
    offered: /^ AUTH[ A-Z;]*TLS/im,
    request: { send: 'AUTH TLS\r\n', answer: 'reply', accepted: /^234/ },
  },
  farewell: 'QUIT\r\n',
};

const imap: Probe = {
  name: 'imap',
  service: 'imap',
  ports: [143, 993],
  greeting: 'line',
  steps: [
    { send: 'a1 CAPABILITY\r\n', answer: 'tagged', proceed: /^\* CAPABILITY[^\r\n]* ID(?: |\r)/im },
    // RFC 2971 section 3.1: the server's own name and version; ours is not told.
    { send: 'a1 ID NIL\r\n', answer: 'tagged' },
  ],
  upgrade: {
    offered: /\bSTARTTLS\b/i,
    request: { send: 'a1 STARTTLS\r\n', answer: 'tagged', accepted: /^a1 OK/im },
  },
  farewell: 'a2 LOGOUT\r\n',
};

const pop3: Probe = {
  name: 'pop3',
  service: 'pop3',
  ports: [110, 995],
  greeting: 'line',
  steps: [{ send: 'CAPA\r\n', answer: 'dotted' }],
  upgrade: {
    offered: /^STLS\r?$/im,
    request: { send: 'STLS\r\n', answer: 'line', accepted: /^\+OK/ },
  },
  farewell: 'QUIT\r\n',
};

const redis: Probe = {
  name: 'redis',
  service: 'redis',
  ports: [6379, 6380, 26379],
  greeting: null,
  steps: [{ send: 'INFO server\r\n', answer: 'redis' }],
};

const memcached: Probe = {
  name: 'memcached',
  service: 'memcached',
  ports: [11211],
  greeting: null,
  steps: [{ send: 'version\r\n', answer: 'line' }],
};

const mysql: Probe = {
  name: 'mysql',
  service: 'mysql',
  ports: [3306, 3307, 33060],
  greeting: 'mysql',
  steps: [],
};

const postgresql: Probe = {
  name: 'postgresql',
  service: 'postgresql',
  ports: [5432, 5433, 6432],
  greeting: null,
  steps: [
    { send: postgresqlSslRequest, answer: 'byte', proceed: /^N/ },
    { send: postgresqlStartup(), answer: 'postgresql' },
  ],
  upgrade: { offered: /^S$/, request: null },
  next: 'postgresql-startup',
};

/** The same server when it offers TLS: the plain startup message alone draws its ErrorResponse. */
const postgresqlPlain: Probe = {
  name: 'postgresql-startup',
  service: 'postgresql',
  ports: [],
  greeting: null,
  steps: [{ send: postgresqlStartup(), answer: 'postgresql' }],
};

/** An authentication request is the same from servers, poolers and other databases; a refusal is not. */
const postgresqlOld: Probe = {
  name: 'postgresql-old',
  service: 'postgresql',
  ports: [],
  greeting: null,
  steps: [{ send: postgresqlOldStartup(), answer: 'all' }],
  after: { answer: /^[SN]?R\0\0\0[\x08-\x40]\0\0\0[\0\x03\x05\x0a]/ },
};

const dns: Probe = {
  name: 'dns-tcp',
  service: 'domain',
  ports: [53, 5353],
  greeting: null,
  steps: [{ send: versionBindQuery(), answer: 'dns' }],
};

/** RFC 6143 section 7.1.1: the client answers with the version that it will speak, here the server's own. */
const vnc: Probe = {
  name: 'vnc',
  service: 'vnc',
  ports: [5900, 5901, 5902, 5903],
  greeting: 'line',
  steps: [
    {
      send: (_host, said) =>
        /RFB \d{3}\.\d{3}\n/.exec(said.toString('latin1', 0, 64))?.[0] ?? 'RFB 003.008\n',
      answer: 'rfb-security',
    },
  ],
};

const rsync: Probe = {
  name: 'rsync',
  service: 'rsync',
  ports: [873],
  greeting: 'line',
  steps: [{ send: '@RSYNCD: 30.0\n#list\n', answer: 'all' }],
};

/** Connection request that offers TLS and no network level authentication, MS-RDPBCGR section 2.2.1.1. */
const rdp: Probe = {
  name: 'rdp',
  service: 'rdp',
  ports: [3389],
  greeting: null,
  steps: [
    {
      send: Buffer.from([3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0]),
      answer: 'tpkt',
    },
  ],
};

/** X Window System Protocol section 8: little-endian, version 11.0, no credentials. */
const x11: Probe = {
  name: 'x11',
  service: 'x11',
  ports: [6000, 6001, 6002, 6003, 6004, 6005, 6007, 6008, 6009],
  greeting: null,
  steps: [{ send: Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]), answer: 'x11' }],
};

/** MS-SMB2 section 2.2.3: every dialect without the contexts of 3.1.1. */
function smb2Negotiate(): Buffer {
  const header = Buffer.alloc(64);
  header.write('\xfeSMB', 'latin1');
  header.writeUInt16LE(64, 4);
  header.writeUInt16LE(31, 14);
  const dialects = [0x0202, 0x0210, 0x0300, 0x0302];
  const body = Buffer.alloc(36 + 2 * dialects.length);
  body.writeUInt16LE(36, 0);
  body.writeUInt16LE(dialects.length, 2);
  body.writeUInt16LE(1, 4);
  body.write('portolan-scanner', 12, 'latin1');
  for (const [at, dialect] of dialects.entries()) body.writeUInt16LE(dialect, 36 + 2 * at);
  return framed(header, body);
}

/** MS-CIFS section 2.2.4.52.1: the one dialect of Windows NT. */
function smb1Negotiate(): Buffer {
  const header = Buffer.alloc(32);
  header.write('\xffSMB', 'latin1');
  header[4] = 0x72;
  header[9] = 0x18;
  header.writeUInt16LE(0xc801, 10);
  const dialect = Buffer.from('\x02NT LM 0.12\0', 'latin1');
  return framed(header, Buffer.from([0, dialect.length, 0]), dialect);
}

/** Direct transport over TCP: a zero, then the length in 24 bits (MS-SMB2 section 2.1). */
function framed(...parts: Uint8Array[]): Buffer {
  const message = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

const smb: Probe = {
  name: 'smb',
  service: 'smb',
  ports: [445],
  greeting: null,
  steps: [{ send: smb2Negotiate(), answer: 'framed' }],
};

/** Whether the old version is spoken too; a server without version 2 hangs up at the first question. */
const smb1: Probe = {
  name: 'smb1',
  service: 'smb',
  ports: [],
  greeting: null,
  steps: [{ send: smb1Negotiate(), answer: 'framed' }],
  after: { answer: /^\0[^]{3}\xfeSMB|^$/, ports: [445] },
};

/** A call of ONC RPC over TCP, RFC 5531 sections 9 and 11, with the id `PORT`. */
function rpcCall(program: number, version: number, procedure: number): Buffer {
  const words = [0x80000028, 0x504f5254, 0, 2, program, version, procedure, 0, 0, 0, 0];
  const call = Buffer.alloc(words.length * 4);
  for (const [at, word] of words.entries()) call.writeUInt32BE(word, at * 4);
  return call;
}

/** PMAPPROC_DUMP, RFC 1833 section 3.2. */
const rpcbind: Probe = {
  name: 'rpcbind',
  service: 'rpcbind',
  // Other programs of ONC RPC answer it too, with a refusal: those of NFS, and the one that keeps the names of Kerberos.
  ports: [111, 662, 749, 875, 892, 4045, 20_048, 32_771, 32_803],
  greeting: null,
  steps: [{ send: rpcCall(100_000, 2, 4), answer: 'rpc' }],
};

/** NFSPROC3_NULL, RFC 1813 section 3.3.0. */
const nfs: Probe = {
  name: 'nfs',
  // The form of its answers is that of every program.
  service: 'rpcbind',
  ports: [2049],
  greeting: null,
  steps: [{ send: rpcCall(100_003, 3, 0), answer: 'rpc' }],
};

/** OP_MSG with a command of two or three members, MongoDB wire protocol. */
function mongodbCommand(name: string, ...flags: string[]): Buffer {
  const one = (key: string) =>
    Buffer.concat([Buffer.from(`\x10${key}\0`, 'latin1'), Buffer.from([1, 0, 0, 0])]);
  const database = Buffer.from('\x02$db\0\x06\0\0\0admin\0', 'latin1');
  const set = flags.map((flag) => Buffer.from(`\x08${flag}\0\x01`, 'latin1'));
  const members = Buffer.concat([one(name), ...set, database]);
  const message = Buffer.alloc(16 + 5 + 4 + members.length + 1);
  message.writeUInt32LE(message.length, 0);
  message.write('PORT', 4, 'latin1');
  message.writeUInt32LE(2013, 12);
  message.writeUInt32LE(4 + members.length + 1, 21);
  members.copy(message, 25);
  return message;
}

/** The version, which needs no login, then the names of the databases, which does where logins are asked for. */
const mongodb: Probe = {
  name: 'mongodb',
  service: 'mongodb',
  ports: [27017, 27018, 27019],
  greeting: null,
  steps: [
    { send: mongodbCommand('buildInfo'), answer: 'mongodb' },
    { send: mongodbCommand('listDatabases', 'nameOnly'), answer: 'mongodb' },
  ],
};

/** A Docker daemon names itself in its headers, whatever it is asked for. */
const dockerVersion: Probe = {
  name: 'docker-version',
  service: 'http',
  ports: [],
  greeting: null,
  steps: [{ send: httpRequestFor('/version'), answer: 'http' }],
  after: { answer: /^HTTP\/1\.[01] \d{3}[^]*?\r\n(?:Server: Docker\/|Api-Version: \d)/i },
};

const etcdPorts = [2379, 2380, 4001];
const unknownPage = /^HTTP\/1\.[01] (?:404|401|403) /;

const etcdVersion: Probe = {
  name: 'etcd-version',
  service: 'http',
  ports: [],
  greeting: null,
  steps: [{ send: httpRequestFor('/version'), answer: 'http' }],
  after: { answer: unknownPage, ports: etcdPorts },
};

/** How many keys there are, of all keys: the smallest read that needs a login where one is asked for. */
const etcdCount: Probe = {
  name: 'etcd-count',
  service: 'http',
  ports: [],
  greeting: null,
  steps: [
    {
      send: httpRequestFor('/v3/kv/range', '{"key":"AA==","range_end":"AA==","count_only":true}'),
      answer: 'http',
    },
  ],
  after: { answer: unknownPage, ports: etcdPorts },
};

/** What runs on a node of Kubernetes: only clients with the right may read it. */
const kubeletPods: Probe = {
  name: 'kubelet-pods',
  service: 'http',
  ports: [],
  greeting: null,
  steps: [{ send: httpRequestFor('/pods'), answer: 'http' }],
  after: { answer: unknownPage, ports: [10250, 10255] },
};

/** RFC 1635: the name that strangers use. */
const ftpAnonymous: Probe = {
  name: 'ftp-anonymous',
  service: 'ftp',
  ports: [],
  greeting: 'reply',
  steps: [
    { send: 'USER anonymous\r\n', answer: 'reply', proceed: /^331/ },
    { send: 'PASS portolan@portolan.invalid\r\n', answer: 'reply' },
  ],
  farewell: 'QUIT\r\n',
  after: { answer: /^220[- ][^\0]{0,2000}?(?:ftp|filezilla)|\n(?:211|215|234)[- ]|\n530 [^\n]*log ?in/i },
  intrusive: true,
};

/** RFC 5321 section 4.1.1.8: a server whose greeting hides its name often gives it here. */
const smtpHelp: Probe = {
  name: 'smtp-help',
  service: 'smtp',
  ports: [],
  greeting: 'reply',
  steps: [
    { send: 'EHLO portolan.invalid\r\n', answer: 'reply', proceed: /^250/ },
    { send: 'HELP\r\n', answer: 'reply' },
  ],
  farewell: 'QUIT\r\n',
  after: {
    answer:
      /^220[ -]\S{0,255}(?: E?SMTP){0,2}[ .!*]{0,16}(?:(?:server |service )?(?:is )?ready\b[^\r\n]*)?\r\n[^]*250[ -]/i,
  },
};

/** The key of the kind that can be too short; servers show a newer one first. */
const sshRsaKey: Probe = {
  name: sshRsaKeyName,
  service: 'ssh',
  ports: [],
  greeting: 'ssh-version',
  steps: [
    { send: 'SSH-2.0-Portolan\r\n', answer: 'ssh-packet', proceed: offeredExchange },
    { send: (_host, said) => keyExchangeRequest(said, 'rsa'), answer: 'ssh-packet' },
  ],
  after: { answer: /^SSH-(?:2|1\.99)[^]*(?:ssh-rsa|rsa-sha2-)/ },
  thorough: true,
};

const sshGroupSize: Probe = {
  name: sshGroupSizeName,
  service: 'ssh',
  ports: [],
  greeting: 'ssh-version',
  steps: [
    { send: 'SSH-2.0-Portolan\r\n', answer: 'ssh-packet', proceed: /diffie-hellman-group-exchange-sha/ },
    { send: (_host, said) => groupSizeRequest(said), answer: 'ssh-packet' },
  ],
  after: { answer: /^SSH-(?:2|1\.99)[^]*diffie-hellman-group-exchange-sha/ },
  thorough: true,
};

const generic: Probe = {
  name: 'generic',
  service: null,
  ports: [],
  greeting: null,
  steps: [{ send: '\r\n\r\n', answer: 'all' }],
};

export const probes: readonly Probe[] = [
  http,
  ssh,
  smtp,
  ftp,
  imap,
  pop3,
  redis,
  memcached,
  mysql,
  postgresql,
  postgresqlPlain,
  dns,
  vnc,
  rsync,
  rdp,
  x11,
  smb,
  rpcbind,
  nfs,
  mongodb,
  ...databaseProbes,
  ...backendProbes,
  ...messageProbes,
  ...networkProbes,
  ...clusterProbes,
  ...mailProbes,
  ...classicProbes,
  ...infrastructureProbes,
  ...mediaProbes,
  ...instrumentProbes,
  generic,
];

/** Asked once the service is known: each tells one thing more. */
const furtherProbes: readonly Probe[] = [
  smb1,
  dockerVersion,
  etcdVersion,
  etcdCount,
  kubeletPods,
  ftpAnonymous,
  sshRsaKey,
  sshGroupSize,
  postgresqlOld,
  ...webProbes,
  ...furtherNetworkProbes,
  ...furtherInfrastructureProbes,
  ...furtherClassicProbes,
  smtpHelp,
];

/** Names of the probes that only tell one thing more: their answer is not the face of the port. */
export const furtherNames: ReadonlySet<string> = new Set([
  ...furtherProbes.map((probe) => probe.name),
  ...redirectNames,
  faviconName,
]);

/** What further questions are allowed and make sense. */
export interface Circumstances {
  intrusive: boolean;
  thorough: boolean;
  /** The answer came inside TLS that began with the first byte. */
  secure: boolean;
}

/** The further questions that an answer of a port deserves. */
export function probesAfter(bytes: Buffer, port: number, circumstances: Circumstances): Probe[] {
  const { intrusive, thorough, secure } = circumstances;
  const text = bytes.toString('latin1', 0, openingBytes);
  return furtherProbes.filter(
    ({ after, ...probe }) =>
      after !== undefined &&
      (intrusive || probe.intrusive !== true) &&
      (thorough || probe.thorough !== true) &&
      (secure || after.secure !== true) &&
      (after.ports?.includes(port) ?? true) &&
      after.answer.test(text),
  );
}

const byName = new Map(probes.map((probe) => [probe.name, probe]));
const byPort = new Map(probes.flatMap((probe) => probe.ports.map((port) => [port, probe] as const)));

/** @throws Error for a name that no probe has */
export function probeNamed(name: string): Probe {
  const probe = byName.get(name);
  if (!probe) throw new Error(`no probe is named ${name}`);
  return probe;
}

/** The probe that goes on where the named one ends; null when none does. */
export function nextProbe(name: string): Probe | null {
  const next = byName.get(name)?.next;
  return next ? probeNamed(next) : null;
}

/** The probe of the service that is usual on a port; on other TLS ports HTTP is the likeliest. */
export function probeForPort(port: number, intrusive: boolean): Probe | null {
  const probe = byPort.get(port);
  if (probe && (intrusive || probe.intrusive !== true)) return probe;
  return tlsPorts.has(port) ? http : null;
}

/** The probes of services that are less usual on a port than the first one. */
export function secondProbesForPort(port: number, intrusive: boolean): readonly Probe[] {
  return probes.filter((probe) => probe.alsoPorts?.includes(port) && (intrusive || probe.intrusive !== true));
}

/**
 * What to say to a service that says nothing, the likeliest first; `tls` stands for a handshake. HTTP answers most,
 * and many other protocols answer its request with an error that gives them away.
 */
export const silentOrder: readonly (Probe | 'tls')[] = [
  http,
  'tls',
  redis,
  postgresql,
  rdp,
  smb,
  dns,
  ...['mssql', 'mqtt', 'ldap'].map(probeNamed),
  mongodb,
  memcached,
  ...[
    'kafka',
    'oracle-tns',
    'zookeeper',
    'sip',
    'socks5',
    'msrpc',
    'kerberos',
    'java-rmi',
    'zabbix-agent',
  ].map(probeNamed),
  x11,
  rpcbind,
  generic,
];

/** What to say inside TLS to a service that did not answer in HTTP, the likeliest first. */
export const insideOrder: readonly Probe[] = [
  redis,
  memcached,
  ...['mqtt', 'ldap', 'amqp'].map(probeNamed),
  generic,
];

/** First bytes of services that need no further question, with their names. */
const openings: readonly { service: string; pattern: RegExp }[] = [
  { service: 'ssh', pattern: /^(?:[^\n]{0,512}\n){0,20}?SSH-\d/ },
  { service: 'http', pattern: /^HTTP\/\d/ },
  { service: 'ftp', pattern: /^220[- ][^\0]{0,2000}?(?:ftp|filezilla)/i },
  { service: 'svdrp', pattern: /^220 \S{1,255} SVDRP VideoDiskRecorder / },
  { service: 'smtp', pattern: /^(?:220|421|554)[- ][^\0]{0,2000}?(?:smtp|mail|postfix|exim)/i },
  { service: 'imap', pattern: /^\* (?:OK|PREAUTH|BYE)\b/i },
  { service: 'pop3', pattern: /^\+OK\b/ },
  {
    service: 'redis',
    pattern:
      /^(?:\$\d+\r\n# Server|-NOAUTH |-DENIED |-ERR (?:unknown command|wrong number of arg|operation not perm|Protocol error))/,
  },
  {
    service: 'memcached',
    pattern: /^(?:VERSION \d|ERROR\r\n|CLIENT_ERROR unauthenticated\r\n|\x81\x0b\0\0\0\0[^]{18}\d)/,
  },
  // Protocol version 10 with a version text, or an error packet (host not allowed).
  { service: 'mysql', pattern: /^[^]{3}[\0-\x02](?:\x0a[\d.][^\0]*\0|\xff[^]{2}(?:#|Host|Too many))/ },
  { service: 'postgresql', pattern: /^(?:[SN]$|[SN]?E\0\0[^][^]S(?:FATAL|ERROR)|[SN]?R\0\0\0)/ },
  { service: 'domain', pattern: /^[^]{2}\x50\x4f[\x80-\xff]/ },
  { service: 'vnc', pattern: /^RFB \d{3}\.\d{3}\n/ },
  { service: 'rsync', pattern: /^@RSYNCD: / },
  { service: 'telnet', pattern: /^\xff[\xfb-\xfe]/ },
  {
    service: 'nntp',
    pattern: /^(?:20[01] .*(?:nntp|news|\binn\b|\bpost(?:ing)?\b)|(?:400|50[23]) .*\b(?:nntp|innd)\b)/i,
  },
  { service: 'sieve', pattern: /^"IMPLEMENTATION" "/ },
  { service: 'spamd', pattern: /^R?SPAMD\/\d\.\d \d/ },
  { service: 'clamd', pattern: /^(?:ClamAV \d|UNKNOWN COMMAND\n$)/ },
  { service: 'lirc', pattern: /^BEGIN\n[^\n]{0,512}\n(?:SUCCESS|ERROR)\n/ },
  { service: 'milter', pattern: /^\0\0\0\x0dO\0\0\0[\x02-\x06]/ },
  { service: 'stun', pattern: /^\x01[\x01\x11][^]{2}\x21\x12\xa4\x42/ },
  { service: 'afp', pattern: /^\x01\x03[^]{2}\0\0\0\0\0\0[^]{2}\0\0\0\0/ },
  { service: 'mumble', pattern: /^\0\0\0\0[^]{2}\x08[^]{1,5}\x12/ },
  { service: 'ident', pattern: /^\d{1,5} ?, ?\d{1,5} ?: ?(?:ERROR|USERID) ?:/ },
  {
    service: 'gopher',
    pattern: /^[0-9+gIThis:;<dp][^\t\r\n]{0,512}\t[^\t\r\n]{0,512}\t[\w.-]{1,255}\t\d{1,5}(?:\t\+)?\r?\n/,
  },
  { service: 'cvspserver', pattern: /^cvs \[(?:pserver|server) aborted\]: / },
  { service: 'svn', pattern: /^\( success \( \d+ \d+ \( / },
  { service: 'rdp', pattern: /^\x03\0\0[\x0b\x13][\x06\x0e]\xd0/ },
  { service: 'smb', pattern: /^(?:\x82\0\0\0)?\0[^]{3}[\xfe\xff]SMB/ },
  // Answers to our calls only.
  { service: 'rpcbind', pattern: /^[\x80-\xff][^]{3}PORT\0\0\0\x01/ },
  { service: 'mongodb', pattern: /^[^]{8}PORT\xdd\x07\0\0/ },
  { service: 'x11', pattern: /^[\0-\x02][^]\x0b\0[\0-\x0a]\0/ },
  { service: 'rtsp', pattern: /^RTSP\/\d/ },
  { service: 'sip', pattern: /^SIP\/2\.0 \d/ },
  { service: 'amqp', pattern: /^(?:AMQP\0|AMQP\x01|\x01\0\0[^]{4}\0\x0a\0\x0a)/ },
  { service: 'mqtt', pattern: /^\x20\x02[\0\x01][\0-\x05]/ },
  { service: 'mssql', pattern: /^\x04\x01[^]{2}\0\0[\0\x01]\0\0\0/ },
  {
    service: 'oracle-tns',
    pattern: /^\0[^][^]{2}[\x02\x04\x05\x0b][\0-\x20]\0\0|\(DESCRIPTION=\((?:TMP|ERR|VSNNUM)=/,
  },
  { service: 'cassandra', pattern: /^[\x81-\x86]\0\0\0[\0\x06]|^[\x83-\x86][^]{3}[\0\x06]\0\0/ },
  { service: 'kafka', pattern: /^\0\0[^]{2}\0\0PO\0/ },
  { service: 'zookeeper', pattern: /^(?:Zookeeper version: |srvr is not executed|This ZooKeeper instance)/ },
  { service: 'firebird', pattern: /^\0\0\0(?:[\x03\x62\x5e]\0\0|\x04$)/ },
  { service: 'beanstalkd', pattern: /^(?:OK \d+\r\n---\n|UNKNOWN_COMMAND\r\n)/ },
  { service: 'ldap', pattern: /^\x30(?:[^]|\x81[^]|\x82[^]{2}|\x84[^]{4})\x02\x01[^][\x61\x64\x65\x78]/ },
  { service: 'kerberos', pattern: /^\0\0[^]{2}[\x7e\x6b]/ },
  { service: 'msrpc', pattern: /^\x05\0[\x0c\x0d][\x03\x07]\x10\0\0\0/ },
  { service: 'xmpp', pattern: /<stream:stream[^<>]*jabber:client/ },
  { service: 'xmpp-server', pattern: /<stream:stream[^<>]*jabber:server/ },
  {
    service: 'irc',
    pattern: /^(?::[^ \r\n]{1,255} (?:NOTICE |00[1-5] |4[2-6]\d )|NOTICE (?:AUTH|\*) :|ERROR :)/,
  },
  { service: 'git', pattern: /^[0-9a-f]{4}(?:ERR |version [12]\n|[0-9a-f]{40} [^\n]*\0)/ },
  { service: 'gearman', pattern: /^(?:ERR unknown_command |OK \d+\.\d+\.\d+|\0RES\0\0\0)/i },
  { service: 'munin', pattern: /^# munin node at / },
  { service: 'ajp13', pattern: /^AB\0\x01\x09/ },
  { service: 'java-rmi', pattern: /^N\0[^]/ },
  { service: 'pptp', pattern: /^\0\x9c\0\x01\x1a\x2b\x3c\x4d/ },
  { service: 'nut', pattern: /^Network UPS Tools |^ERR UNKNOWN-COMMAND/ },
  { service: 'zabbix-agent', pattern: /^ZBXD[\x01\x03]/ },
  { service: 'socks5', pattern: /^\x05[\0\xff]$/ },
  { service: 'nrpe', pattern: /^\0[\x02-\x04]\0\x02[^]{4}\0[\0-\x03]/ },
  { service: 'fastcgi', pattern: /^\x01[\x0a\x0b]\0\0[^]{4}/ },
  { service: 'drda', pattern: /^[^]{2}\xd0[\x02\x03\x42\x43]\0\x01[^]{2}[\x12\x14]/ },
  { service: 'jdwp', pattern: /^JDWP-Handshake/ },
  { service: 'iscsi', pattern: /^[\x23\x3f][^]{3}\0[^]{43}/ },
  { service: 'apcupsd', pattern: /^\0[^]APC {6}: \d/ },
  { service: 'lcdproc', pattern: /^(?:connect LCDproc |huh\? )/ },
  { service: 'ovsdb', pattern: /^\{(?=[^]{0,4096}"id": ?"portolan")[^]{0,4096}"result": ?\[/ },
  { service: 'libvirt', pattern: /^\0\0[^]{2}\x20\0\x80\x86\0\0\0\x01/ },
  { service: 'corosync-qnetd', pattern: /^\0[\x01\x03]\0\0\0[^]\0/ },
  { service: 'gqtp', pattern: /^\xc7[^]{23}/ },
  { service: 'stomp', pattern: /^(?:ERROR|CONNECTED)\r?\n(?:[a-z-]+:|\r?\n)/ },
  { service: 'erlang-node', pattern: /^\0[^]s(?:ok|ok_simultaneous|nok|not_allowed|alive)(?:\0[^]N|$)/ },
  { service: 'openvpn', pattern: /^\0[\x0e-\x40]\x40[^]{8}/ },
  { service: 'openvpn-management', pattern: /^>INFO:OpenVPN Management/ },
  { service: 'modbus', pattern: /^PO\0\0\0[^][\x01\xff][\x2b\xab]/ },
  { service: 'tor-control', pattern: /^(?:250-PROTOCOLINFO \d|514 Authentication required)/ },
  { service: 'conserver', pattern: /^ok\r\n(?:$|exit {3}disconnect)/ },
  { service: 'bzr', pattern: /^(?:ok|error)\x01/ },
  { service: 'xymon', pattern: /^(?:xymond|hobbitd) \d/ },
  { service: 'icap', pattern: /^ICAP\/1\.0 \d/ },
  { service: 'varnish-cli', pattern: /^(?:107|200) \d{1,7} +\n/ },
  { service: 'druby', pattern: /^\0\0\0\x03\x04\x08F/ },
  { service: 'rabbitmq-stream', pattern: /^\0\0[^]{2}\x80\x11\0\x01/ },
  { service: 'gpsd', pattern: /^\{"class":"VERSION"/ },
  { service: 'snapcast', pattern: /^(?:\{(?=[^]{0,4096}"snapserver":)|\x04\0POPO[^]{16}\x08\0\0\0)/ },
  { service: 'liquidsoap', pattern: /^(?:Liquidsoap \d|ERROR: unknown command, type "help" to get a list)/ },
  { service: 'ser2net', pattern: /^-> (?:$|version\r\n)/ },
  { service: 'hamlib', pattern: /^RPRT -\d+\n/ },
  { service: 'bzflag', pattern: /^BZFS\d{4}\0?$/ },
  { service: 'adc', pattern: /^ISUP ADBAS[E0]/ },
  { service: 'boinc', pattern: /^<boinc_gui_rpc_reply>/ },
  { service: 'festival', pattern: /^(?:ER\n|LP\n"[^]{1,100}ft_StUfF_key)/ },
  { service: 'i2p-sam', pattern: /^HELLO REPLY RESULT=/ },
];

/** Bytes of an answer that are looked at to name its service. */
const openingBytes = 4096;

/** Which service an answer gives away, or null. */
export function serviceOf(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, openingBytes);
  return openings.find(({ pattern }) => pattern.test(text))?.service ?? null;
}

/** The probe that asks on after a greeting; on a plain `220` the port decides between mail and file transfer. */
export function probeForGreeting(bytes: Buffer, port: number): Probe | null {
  const service = serviceOf(bytes);
  const known = service === null ? undefined : probes.find((probe) => probe.service === service);
  if (known) return known;
  if (!/^220[- ]/.test(bytes.toString('latin1', 0, 4))) return null;
  return ftp.ports.includes(port) ? ftp : smtp;
}

/** The answer of a server that expected TLS: an alert record, or the texts of nginx, Apache, Go, Jetty and others. */
export function wantsTls(bytes: Buffer): boolean {
  if (bytes[0] === 0x15 && bytes[1] === 0x03) return true;
  const text = bytes.toString('latin1', 0, openingBytes);
  return /plain HTTP request was sent to HTTPS|speaking plain HTTP to an SSL|HTTP request to an HTTPS server|requires TLS/i.test(
    text,
  );
}

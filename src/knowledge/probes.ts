import type { AnswerForm } from './answers.ts';

/** A dialogue that asks a service what it is: harmless read commands only. */
export interface Probe {
  name: string;
  /** Service name that an identified answer stands for; null for a probe that fits many. */
  service: string | null;
  /** Ports where this service is usual. */
  ports: readonly number[];
  /** The service speaks first; this is the form of its greeting. */
  greeting: AnswerForm | null;
  steps: readonly ProbeStep[];
  /** How the dialogue goes on in TLS, if the service offers it. */
  upgrade?: Upgrade;
  /** Said at the end; the answer does not matter. */
  farewell?: string;
  /** Name of the probe that asks on, on a new connection, when the steps ended early. */
  next?: string;
}

export interface ProbeStep {
  /** A function gets the host it talks to. */
  send: string | Uint8Array | ((host: string) => string);
  answer: AnswerForm;
  /** The next step only follows an answer that fits. */
  proceed?: RegExp;
}

export interface Upgrade {
  /** In an answer so far. */
  offered: RegExp;
  send: string;
  answer: AnswerForm;
  accepted: RegExp;
}

/** Version that probes give as their own. */
const ownVersion = '0.1';

/** Ports that print or do worse with what they receive: nothing is sent there, not even a connection. */
export function isUntouchable(port: number): boolean {
  return (port >= 9100 && port <= 9107) || port === 515 || port === 631;
}

/** Ports where TLS starts at once. */
export const tlsPorts: ReadonlySet<number> = new Set([
  443, 465, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 4443, 5061, 5671, 5986, 6443, 6514, 6697, 8443,
  8531, 8883, 9443, 10443,
]);

/** The IPv6 address of a URL stands in brackets (RFC 3986 section 3.2.2), without zone. */
function hostHeader(host: string): string {
  return host.includes(':') ? `[${host.split('%')[0]}]` : host;
}

const httpRequest = (host: string) =>
  [
    'GET / HTTP/1.1',
    `Host: ${hostHeader(host)}`,
    `User-Agent: Portolan/${ownVersion}`,
    'Accept: */*',
    'Accept-Encoding: identity',
    'Connection: close',
    '\r\n',
  ].join('\r\n');

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
  steps: [{ send: 'SSH-2.0-Portolan\r\n', answer: 'ssh-packet' }],
};

const smtp: Probe = {
  name: 'smtp',
  service: 'smtp',
  ports: [25, 465, 587, 2525],
  greeting: 'reply',
  steps: [{ send: 'EHLO portolan.invalid\r\n', answer: 'reply' }],
  upgrade: { offered: /^250[- ]STARTTLS\r?$/im, send: 'STARTTLS\r\n', answer: 'reply', accepted: /^220/ },
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
  upgrade: { offered: /^ AUTH[ A-Z;]*TLS/im, send: 'AUTH TLS\r\n', answer: 'reply', accepted: /^234/ },
  farewell: 'QUIT\r\n',
};

const imap: Probe = {
  name: 'imap',
  service: 'imap',
  ports: [143, 993],
  greeting: 'line',
  steps: [{ send: 'a1 CAPABILITY\r\n', answer: 'tagged' }],
  upgrade: { offered: /\bSTARTTLS\b/i, send: 'a1 STARTTLS\r\n', answer: 'tagged', accepted: /^a1 OK/im },
  farewell: 'a2 LOGOUT\r\n',
};

const pop3: Probe = {
  name: 'pop3',
  service: 'pop3',
  ports: [110, 995],
  greeting: 'line',
  steps: [{ send: 'CAPA\r\n', answer: 'dotted' }],
  upgrade: { offered: /^STLS\r?$/im, send: 'STLS\r\n', answer: 'line', accepted: /^\+OK/ },
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

const dns: Probe = {
  name: 'dns-tcp',
  service: 'domain',
  ports: [53, 5353],
  greeting: null,
  steps: [{ send: versionBindQuery(), answer: 'dns' }],
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
  generic,
];

const byName = new Map(probes.map((probe) => [probe.name, probe]));
const byPort = new Map(probes.flatMap((probe) => probe.ports.map((port) => [port, probe] as const)));

/** @throws Error for a name that no probe has */
export function probeNamed(name: string): Probe {
  const probe = byName.get(name);
  if (!probe) throw new Error(`no probe is named ${name}`);
  return probe;
}

/** The probe of the service that is usual on a port; on other TLS ports HTTP is the likeliest. */
export function probeForPort(port: number): Probe | null {
  return byPort.get(port) ?? (tlsPorts.has(port) ? http : null);
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
  dns,
  memcached,
  generic,
];

/** First bytes of services that need no further question, with their names. */
const openings: readonly { service: string; pattern: RegExp }[] = [
  { service: 'ssh', pattern: /^(?:[^\n]{0,512}\n){0,20}?SSH-\d/ },
  { service: 'http', pattern: /^HTTP\/\d/ },
  { service: 'ftp', pattern: /^220[- ][^\0]{0,2000}?(?:ftp|filezilla)/i },
  { service: 'smtp', pattern: /^(?:220|421|554)[- ][^\0]{0,2000}?(?:smtp|mail|postfix|exim)/i },
  { service: 'imap', pattern: /^\* (?:OK|PREAUTH|BYE)\b/i },
  { service: 'pop3', pattern: /^\+OK\b/ },
  {
    service: 'redis',
    pattern:
      /^(?:\$\d+\r\n# Server|-NOAUTH |-DENIED |-ERR (?:unknown command|wrong number of arg|operation not perm|Protocol error))/,
  },
  { service: 'memcached', pattern: /^(?:VERSION \d|ERROR\r\n)/ },
  // Protocol version 10 with a version text, or an error packet (host not allowed).
  { service: 'mysql', pattern: /^[^]{3}[\0-\x02](?:\x0a[\d.]+[^\0]*\0|\xff[^]{2}(?:#|Host|Too many))/ },
  { service: 'postgresql', pattern: /^(?:[SN]$|[SN]?E\0\0[^][^]S(?:FATAL|ERROR)|[SN]?R\0\0\0)/ },
  { service: 'domain', pattern: /^[^]{2}\x50\x4f[\x80-\xff]/ },
  { service: 'vnc', pattern: /^RFB \d{3}\.\d{3}\n/ },
  { service: 'rsync', pattern: /^@RSYNCD: / },
  { service: 'telnet', pattern: /^\xff[\xfb-\xfe]/ },
  { service: 'nntp', pattern: /^20[01] .*(?:nntp|news|inn)/i },
  { service: 'rtsp', pattern: /^RTSP\/\d/ },
  { service: 'amqp', pattern: /^AMQP\0/ },
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

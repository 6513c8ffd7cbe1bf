import { httpRequestFor } from '../requests/http-request.ts';
import { greetingProbe, type Probe, requestProbe } from './probe.ts';

/** Probes of services that most networks have: web, mail, names, databases, containers. */

const httpRequest = httpRequestFor('/');

/** PostgreSQL SSLRequest: length 8, code 80877103. */
const postgresqlSslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** PostgreSQL startup message, protocol 3.0; the server rejects the unknown user with an ErrorResponse. */
function postgresqlStartup(): Buffer {
  const parameters = Buffer.from('\0\x03\0\0user\0portolan\0database\0portolan\0\0', 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(parameters.length + 4);
  return Buffer.concat([length, parameters]);
}

/** DNS over TCP: TXT query of class CHAOS for version.bind, id 0x504f. */
function versionBindQuery(): Buffer {
  const header = Buffer.from([0x50, 0x4f, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const query = Buffer.from('\x07version\x04bind\0\0\x10\0\x03', 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(header.length + query.length);
  return Buffer.concat([length, header, query]);
}

/**
 * PostgreSQL startup message of protocol 2.0, 296 bytes. Every implementation of the protocol rejects it, or the
 * unknown user, with its own wording.
 */
function postgresqlOldStartup(): Buffer {
  const message = Buffer.alloc(296);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt16BE(2, 4);
  message.write('portolan', 8, 'latin1');
  message.write('portolan', 72, 'latin1');
  return message;
}

export const http = requestProbe(
  'http',
  [
    80, 81, 591, 2375, 3000, 3128, 5000, 5357, 5601, 5985, 7001, 8000, 8008, 8080, 8081, 8088, 8090, 8888,
    9000, 9090, 9200,
  ],
  httpRequest,
  'http',
);

export const smtp: Probe = {
  name: 'smtp',
  service: 'smtp',
  ports: [25, 465, 587, 2525],
  greeting: 'reply',
  steps: [
    { send: 'EHLO portolan.invalid\r\n', answer: 'reply', proceed: /^5/ },
    // RFC 2033 section 4.1: an LMTP server greets alike but accepts only LHLO.
    { send: 'LHLO portolan.invalid\r\n', answer: 'reply' },
  ],
  upgrade: {
    offered: /^250[- ]STARTTLS\r?$/im,
    request: { send: 'STARTTLS\r\n', answer: 'reply', accepted: /^220/ },
  },
  farewell: 'QUIT\r\n',
};

export const ftp: Probe = {
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

export const imap: Probe = {
  name: 'imap',
  service: 'imap',
  ports: [143, 993],
  greeting: 'line',
  steps: [
    { send: 'a1 CAPABILITY\r\n', answer: 'tagged', proceed: /^\* CAPABILITY[^\r\n]* ID(?: |\r)/im },
    // RFC 2971 section 3.1: requests the server's name and version without sending the client's.
    { send: 'a1 ID NIL\r\n', answer: 'tagged' },
  ],
  upgrade: {
    offered: /\bSTARTTLS\b/i,
    request: { send: 'a1 STARTTLS\r\n', answer: 'tagged', accepted: /^a1 OK/im },
  },
  farewell: 'a2 LOGOUT\r\n',
};

export const pop3 = requestProbe('pop3', [110, 995], 'CAPA\r\n', 'dotted', {
  greeting: 'line',
  upgrade: {
    offered: /^STLS\r?$/im,
    request: { send: 'STLS\r\n', answer: 'line', accepted: /^\+OK/ },
  },
  farewell: 'QUIT\r\n',
});

export const redis = requestProbe('redis', [6379, 6380, 26379], 'INFO server\r\n', 'redis');

export const memcached = requestProbe('memcached', [11211], 'version\r\n', 'line');

export const mysql = greetingProbe('mysql', [3306, 3307, 33060], 'mysql');

export const postgresql: Probe = {
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

/** The same server when it offers TLS: only the plain startup message triggers its ErrorResponse. */
export const postgresqlPlain = requestProbe('postgresql-startup', [], postgresqlStartup(), 'postgresql', {
  service: 'postgresql',
});

/** An authentication request looks the same from servers, poolers and other databases; a rejection does not. */
export const postgresqlOld = requestProbe('postgresql-old', [], postgresqlOldStartup(), 'all', {
  service: 'postgresql',
  after: { answer: /^[SN]?R\0\0\0[\x08-\x40]\0\0\0[\0\x03\x05\x0a]/ },
});

export const dns = requestProbe('dns-tcp', [53, 5353], versionBindQuery(), 'dns', { service: 'domain' });

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

/** The version, which needs no login, then the database names, which need one if authentication is on. */
export const mongodb: Probe = {
  name: 'mongodb',
  service: 'mongodb',
  ports: [27017, 27018, 27019],
  greeting: null,
  steps: [
    { send: mongodbCommand('buildInfo'), answer: 'mongodb' },
    { send: mongodbCommand('listDatabases', 'nameOnly'), answer: 'mongodb' },
  ],
};

/** A Docker daemon names itself in the headers of any response. */
export const dockerVersion = requestProbe('docker-version', [], httpRequestFor('/version'), 'http', {
  service: 'http',
  after: { answer: /^HTTP\/1\.[01] \d{3}[^]*?\r\n(?:Server: Docker\/|Api-Version: \d)/i },
});

const etcdPorts = [2379, 2380, 4001];

const unknownPage = /^HTTP\/1\.[01] (?:404|401|403) /;

export const etcdVersion = requestProbe('etcd-version', [], httpRequestFor('/version'), 'http', {
  service: 'http',
  after: { answer: unknownPage, ports: etcdPorts },
});

/** The count of all keys: the smallest read that needs a login if authentication is on. */
export const etcdCount = requestProbe(
  'etcd-count',
  [],
  httpRequestFor('/v3/kv/range', '{"key":"AA==","range_end":"AA==","count_only":true}'),
  'http',
  { service: 'http', after: { answer: unknownPage, ports: etcdPorts } },
);

/** The pods on a Kubernetes node: only authorized clients may read them. */
export const kubeletPods = requestProbe('kubelet-pods', [], httpRequestFor('/pods'), 'http', {
  service: 'http',
  after: { answer: unknownPage, ports: [10250, 10255] },
});

/** RFC 1635: anonymous login. */
export const ftpAnonymous: Probe = {
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

/** RFC 5321 section 4.1.1.8: a server whose greeting hides its name often reveals it here. */
export const smtpHelp: Probe = {
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

export const generic = requestProbe('generic', [], '\r\n\r\n', 'all', { service: null });

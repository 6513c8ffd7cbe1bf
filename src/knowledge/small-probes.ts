import type { Probe } from './probes.ts';

/** Questions for the neighbours of mail servers, for news, and for the small services of old. */

/** RFC 5804: the capabilities come unasked, with the name of the program. */
const sieve: Probe = {
  name: 'sieve',
  service: 'sieve',
  ports: [4190],
  greeting: 'line',
  steps: [],
  upgrade: {
    offered: /^"STARTTLS"/im,
    request: { send: 'STARTTLS\r\n', answer: 'line', accepted: /^OK/i },
  },
  farewell: 'LOGOUT\r\n',
};

/** RFC 3977 section 5.2. */
const nntp: Probe = {
  name: 'nntp',
  service: 'nntp',
  ports: [119, 433, 563],
  greeting: 'line',
  steps: [{ send: 'CAPABILITIES\r\n', answer: 'capabilities' }],
  upgrade: {
    offered: /^STARTTLS\r?$/m,
    request: { send: 'STARTTLS\r\n', answer: 'line', accepted: /^382/ },
  },
  farewell: 'QUIT\r\n',
};

/** The spamc protocol 1.5. */
const spamd: Probe = {
  name: 'spamd',
  service: 'spamd',
  ports: [783],
  greeting: null,
  steps: [{ send: 'PING SPAMC/1.5\r\n\r\n', answer: 'all' }],
};

const clamd: Probe = {
  name: 'clamd',
  service: 'clamd',
  ports: [3310],
  greeting: null,
  steps: [{ send: 'zVERSION\0', answer: 'all' }],
};

/** SMFIC_OPTNEG of the mail filter protocol 6: what the filter would do; no mail follows. */
const milter: Probe = {
  name: 'milter',
  service: 'milter',
  ports: [8891, 8892, 8893, 11_332],
  greeting: null,
  steps: [
    {
      send: Buffer.from([0, 0, 0, 13, 0x4f, 0, 0, 0, 6, 0, 0, 1, 0xff, 0, 0x1f, 0xff, 0xff]),
      answer: 'counted',
    },
  ],
};

/** Access policy delegation of Postfix: a request that tells nothing of any mail. */
const mailPolicy: Probe = {
  name: 'mail-policy',
  service: 'mail-policy',
  ports: [10_023, 10_031, 10_040, 12_525],
  greeting: null,
  steps: [{ send: 'request=smtpd_access_policy\n\n', answer: 'head' }],
};

export const mailProbes: readonly Probe[] = [sieve, nntp, spamd, clamd, milter, mailPolicy];

/** RFC 1436: the uppermost menu. */
const gopher: Probe = {
  name: 'gopher',
  service: 'gopher',
  ports: [70],
  greeting: null,
  steps: [{ send: '\r\n', answer: 'all' }],
};

/** The file in which servers of Gopher tell what they are and can do. */
const gopherCapabilities: Probe = {
  name: 'gopher-caps',
  service: 'gopher',
  ports: [],
  greeting: null,
  steps: [{ send: 'caps.txt\r\n', answer: 'all' }],
  after: {
    answer: /^[0-9+gIThis:;<dp][^\t\r\n]{0,512}\t[^\t\r\n]{0,512}\t[\w.-]{1,255}\t\d{1,5}(?:\t\+)?\r?\n/,
  },
};

/** Asked once the service is known. */
export const furtherSmallProbes: readonly Probe[] = [gopherCapabilities];

/** RFC 1288 section 2.3: who is there. */
const finger: Probe = {
  name: 'finger',
  service: 'finger',
  ports: [79],
  greeting: null,
  steps: [{ send: '\r\n', answer: 'all' }],
};

/** RFC 862: it says again what it hears. */
const echo: Probe = {
  name: 'echo',
  service: 'echo',
  ports: [7],
  greeting: null,
  steps: [{ send: 'portolan-echo\r\n', answer: 'line' }],
};

/** RFC 864, 867, 868: they speak first and are asked nothing. */
const timeAndText: readonly Probe[] = [
  { name: 'daytime', service: 'daytime', ports: [13], greeting: 'line', steps: [] },
  { name: 'chargen', service: 'chargen', ports: [19], greeting: 'line', steps: [] },
  { name: 'time', service: 'time', ports: [37], greeting: 'word', steps: [] },
];

/** Binding request, RFC 8489 section 5, over TCP. */
const stun: Probe = {
  name: 'stun',
  service: 'stun',
  ports: [3478, 3479, 5349, 5350],
  greeting: null,
  steps: [{ send: Buffer.from('\0\x01\0\0\x21\x12\xa4\x42portolanport', 'latin1'), answer: 'stun' }],
};

const lirc: Probe = {
  name: 'lirc',
  service: 'lirc',
  ports: [8765],
  greeting: null,
  steps: [{ send: 'VERSION\n', answer: 'all' }],
};

/** The server hears no request that it knows and says so; nobody logs in. */
const cvs: Probe = {
  name: 'cvspserver',
  service: 'cvspserver',
  ports: [2401],
  greeting: null,
  steps: [{ send: 'PORTOLAN\n', answer: 'all' }],
};

/** It sends its capabilities first. */
const svn: Probe = {
  name: 'svn',
  service: 'svn',
  ports: [3690],
  greeting: 'line',
  steps: [],
};

/** The server sends its version first, inside TLS. */
const mumble: Probe = {
  name: 'mumble',
  service: 'mumble',
  ports: [64_738],
  greeting: 'all',
  steps: [],
};

/** DSIGetStatus of the Apple Filing Protocol: what strangers may know before a session. */
const afp: Probe = {
  name: 'afp',
  service: 'afp',
  ports: [548],
  greeting: null,
  steps: [{ send: Buffer.from([0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), answer: 'dsi' }],
};

export const smallProbes: readonly Probe[] = [
  gopher,
  finger,
  echo,
  ...timeAndText,
  stun,
  lirc,
  cvs,
  svn,
  mumble,
  afp,
];

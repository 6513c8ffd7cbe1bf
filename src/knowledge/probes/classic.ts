import type { Probe } from './probe.ts';

/** Probes of small legacy services and their successors. */

/** RFC 1436: the root menu. */
const gopher: Probe = {
  name: 'gopher',
  service: 'gopher',
  ports: [70],
  greeting: null,
  steps: [{ send: '\r\n', answer: 'all' }],
};

/** The file in which Gopher servers describe their software and capabilities. */
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

/** Sent once the service is known. */
export const furtherClassicProbes: readonly Probe[] = [gopherCapabilities];

/** RFC 1288 section 2.3: the list of logged-in users. */
const finger: Probe = {
  name: 'finger',
  service: 'finger',
  ports: [79],
  greeting: null,
  steps: [{ send: '\r\n', answer: 'all' }],
};

/** RFC 862: the server echoes what it receives. */
const echo: Probe = {
  name: 'echo',
  service: 'echo',
  ports: [7],
  greeting: null,
  steps: [{ send: 'portolan-echo\r\n', answer: 'line' }],
};

/** RFC 864, 867, 868: the server sends first; the probe sends nothing. */
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

/** The server rejects an unknown request; no login. */
const cvs: Probe = {
  name: 'cvspserver',
  service: 'cvspserver',
  ports: [2401],
  greeting: null,
  steps: [{ send: 'PORTOLAN\n', answer: 'all' }],
};

/** The server sends its capabilities first. */
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

/** DSIGetStatus of the Apple Filing Protocol: server information available without a session. */
const afp: Probe = {
  name: 'afp',
  service: 'afp',
  ports: [548],
  greeting: null,
  steps: [{ send: Buffer.from([0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), answer: 'dsi' }],
};

export const classicProbes: readonly Probe[] = [
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

import { type Probe, requestProbe } from './probe.ts';

/** Probes of small legacy services and their successors. */

/** Sent once the service is known. */
export const furtherClassicProbes: readonly Probe[] = [
  // The file in which Gopher servers describe their software and capabilities.
  requestProbe('gopher-caps', [], 'caps.txt\r\n', 'all', {
    service: 'gopher',
    after: {
      answer: /^[0-9+gIThis:;<dp][^\t\r\n]{0,512}\t[^\t\r\n]{0,512}\t[\w.-]{1,255}\t\d{1,5}(?:\t\+)?\r?\n/,
    },
  }),
];

/** RFC 864, 867, 868: the server sends first; the probe sends nothing. */
const timeAndText: readonly Probe[] = [
  { name: 'daytime', service: 'daytime', ports: [13], greeting: 'line', steps: [] },
  { name: 'chargen', service: 'chargen', ports: [19], greeting: 'line', steps: [] },
  { name: 'time', service: 'time', ports: [37], greeting: 'word', steps: [] },
];

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

export const classicProbes: readonly Probe[] = [
  // RFC 1436: the root menu.
  requestProbe('gopher', [70], '\r\n', 'all'),
  // RFC 1288 section 2.3: the list of logged-in users.
  requestProbe('finger', [79], '\r\n', 'all'),
  // RFC 862: the server echoes what it receives.
  requestProbe('echo', [7], 'portolan-echo\r\n', 'line'),
  ...timeAndText,
  // Binding request, RFC 8489 section 5, over TCP.
  requestProbe(
    'stun',
    [3478, 3479, 5349, 5350],
    Buffer.from('\0\x01\0\0\x21\x12\xa4\x42portolanport', 'latin1'),
    'stun',
  ),
  requestProbe('lirc', [8765], 'VERSION\n', 'all'),
  // The server rejects an unknown request; no login.
  requestProbe('cvspserver', [2401], 'PORTOLAN\n', 'all'),
  svn,
  mumble,
  // DSIGetStatus of the Apple Filing Protocol: server information available without a session.
  requestProbe('afp', [548], Buffer.from([0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 'dsi'),
];

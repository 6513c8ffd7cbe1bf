import { greetingProbe, type Probe, requestProbe } from './probe.ts';

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

export const classicProbes: readonly Probe[] = [
  // RFC 1436: the root menu.
  requestProbe('gopher', [70], '\r\n', 'all'),
  // RFC 1288 section 2.3: the list of logged-in users.
  requestProbe('finger', [79], '\r\n', 'all'),
  // RFC 862: the server echoes what it receives.
  requestProbe('echo', [7], 'portolan-echo\r\n', 'line'),
  // RFC 864, 867, 868: the server sends first; the probe sends nothing.
  greetingProbe('daytime', [13], 'line'),
  greetingProbe('chargen', [19], 'line'),
  greetingProbe('time', [37], 'word'),
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
  // The server sends its capabilities first.
  greetingProbe('svn', [3690], 'line'),
  // The server sends its version first, inside TLS.
  greetingProbe('mumble', [64_738], 'all'),
  // DSIGetStatus of the Apple Filing Protocol: server information available without a session.
  requestProbe('afp', [548], Buffer.from([0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 'dsi'),
];

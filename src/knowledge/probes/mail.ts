import { greetingProbe, type Probe, requestProbe } from './probe.ts';

/** Probes of mail-related services and news servers. */

export const mailProbes: readonly Probe[] = [
  // RFC 5804: the server sends its capabilities first, with the program name.
  greetingProbe('sieve', [4190], 'line', {
    upgrade: {
      offered: /^"STARTTLS"/im,
      request: { send: 'STARTTLS\r\n', answer: 'line', accepted: /^OK/i },
    },
    farewell: 'LOGOUT\r\n',
  }),
  // RFC 3977 section 5.2.
  requestProbe('nntp', [119, 433, 563], 'CAPABILITIES\r\n', 'capabilities', {
    greeting: 'line',
    upgrade: {
      offered: /^STARTTLS\r?$/m,
      request: { send: 'STARTTLS\r\n', answer: 'line', accepted: /^382/ },
    },
    farewell: 'QUIT\r\n',
  }),
  // The spamc protocol 1.5.
  requestProbe('spamd', [783], 'PING SPAMC/1.5\r\n\r\n', 'all'),
  requestProbe('clamd', [3310], 'zVERSION\0', 'all'),
  // SMFIC_OPTNEG of the mail filter protocol 6: the actions of the filter; no mail follows.
  requestProbe(
    'milter',
    [8891, 8892, 8893, 11_332],
    Buffer.from([0, 0, 0, 13, 0x4f, 0, 0, 0, 6, 0, 0, 1, 0xff, 0, 0x1f, 0xff, 0xff]),
    'counted',
  ),
  // Access policy delegation of Postfix: a request without data about any mail.
  requestProbe('mail-policy', [10_023, 10_031, 10_040, 12_525], 'request=smtpd_access_policy\n\n', 'head'),
];

import type { Probe } from './probe.ts';

/** Probes of mail-related services and news servers. */

/** RFC 5804: the server sends its capabilities first, with the program name. */
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

/** SMFIC_OPTNEG of the mail filter protocol 6: the actions of the filter; no mail follows. */
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

/** Access policy delegation of Postfix: a request without data about any mail. */
const mailPolicy: Probe = {
  name: 'mail-policy',
  service: 'mail-policy',
  ports: [10_023, 10_031, 10_040, 12_525],
  greeting: null,
  steps: [{ send: 'request=smtpd_access_policy\n\n', answer: 'head' }],
};

export const mailProbes: readonly Probe[] = [sieve, nntp, spamd, clamd, milter, mailPolicy];

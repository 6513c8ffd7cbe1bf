import { groupSizeRequest, keyExchangeRequest, offeredExchange } from '../ssh/host-key-request.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of services for remote logins and screens. */

/** Names of the further probes of an SSH server. */
export const sshRsaKeyName = 'ssh-rsa-key';

export const sshGroupSizeName = 'ssh-group-size';

export const ssh: Probe = {
  name: 'ssh',
  service: 'ssh',
  ports: [22, 222, 830, 2022, 2222, 22222],
  greeting: 'ssh-version',
  steps: [
    { send: 'SSH-2.0-Portolan\r\n', answer: 'ssh-packet', proceed: offeredExchange },
    { send: (_host, said) => keyExchangeRequest(said), answer: 'ssh-packet' },
  ],
};

/** RFC 6143 section 7.1.1: the client replies with the version to use, here the server's own. */
export const vnc = requestProbe(
  'vnc',
  [5900, 5901, 5902, 5903],
  (_host, said) => /RFB \d{3}\.\d{3}\n/.exec(said.toString('latin1', 0, 64))?.[0] ?? 'RFB 003.008\n',
  'rfb-security',
  { greeting: 'line' },
);

/** Connection request that offers TLS and no network level authentication, MS-RDPBCGR section 2.2.1.1. */
export const rdp = requestProbe(
  'rdp',
  [3389],
  Buffer.from([3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0]),
  'tpkt',
);

/** X Window System Protocol section 8: little-endian, version 11.0, no credentials. */
export const x11 = requestProbe(
  'x11',
  [6000, 6001, 6002, 6003, 6004, 6005, 6007, 6008, 6009],
  Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  'x11',
);

/** The RSA key, which can be too short; servers present a newer key type first. */
export const sshRsaKey: Probe = {
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

export const sshGroupSize: Probe = {
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

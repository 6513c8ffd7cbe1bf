import { cve } from './entry.ts';

const openssl = 'a:openssl:openssl';

/** TLS libraries that servers name in their responses. */
export const tlsLibraryCves = [
  cve(
    'CVE-2014-0160',
    'NLNN/U/HNN',
    'Heartbeat messages read memory of the server (Heartbleed)',
    { [openssl]: ['>= 1.0.1, < 1.0.1g'] },
    { remedy: 'After the update replace keys and certificates, and have passwords changed.' },
  ),
  cve('CVE-2014-0224', 'NHNN/U/HHN', 'An early ChangeCipherSpec lets somebody on the path read the session', {
    [openssl]: ['< 0.9.8za', '>= 1.0.0, < 1.0.0m', '>= 1.0.1, < 1.0.1h'],
  }),
  cve('CVE-2016-0800', 'NHNN/U/HNN', 'SSLv2 with the same key lets recorded sessions be decrypted (DROWN)', {
    [openssl]: ['>= 1.0.1, < 1.0.1s', '>= 1.0.2, < 1.0.2g'],
  }),
  cve('CVE-2016-2107', 'NHNN/U/HNN', 'The padding check of AES-CBC lets somebody on the path decrypt', {
    [openssl]: ['< 1.0.1t', '>= 1.0.2, < 1.0.2h'],
  }),
  cve(
    'CVE-2020-1967',
    'NLNN/U/NNH',
    'An invalid signature algorithm in a TLS 1.3 handshake crashes the server',
    { [openssl]: ['>= 1.1.1d, < 1.1.1g'] },
  ),
  cve('CVE-2021-3449', 'NHNN/U/NNH', 'A crafted renegotiation crashes a TLS 1.2 server', {
    [openssl]: ['>= 1.1.1, < 1.1.1k'],
  }),
  cve('CVE-2021-3711', 'NLNN/U/HHH', 'Decryption with SM2 overflows a buffer', {
    [openssl]: ['>= 1.1.1, < 1.1.1l'],
  }),
  cve(
    'CVE-2022-0778',
    'NLNN/U/NNH',
    'A certificate with invalid curve parameters sends its reader into an endless loop',
    { [openssl]: ['>= 1.0.2, < 1.0.2zd', '>= 1.1.1, < 1.1.1n', '>= 3.0.0, < 3.0.2'] },
  ),
  cve('CVE-2022-2274', 'NLNN/U/HHH', 'RSA with 2048 bits corrupts memory on processors with AVX512IFMA', {
    [openssl]: ['= 3.0.4'],
  }),
  cve('CVE-2022-3602', 'NLNN/U/NNH', 'A mail address in a certificate overflows the stack by four bytes', {
    [openssl]: ['>= 3.0.0, < 3.0.7'],
  }),
  cve('CVE-2022-3786', 'NLNN/U/NNH', 'A mail address in a certificate overflows the stack with dots', {
    [openssl]: ['>= 3.0.0, < 3.0.7'],
  }),
  cve(
    'CVE-2023-0286',
    'NHNN/U/HNH',
    'X.400 addresses in certificates and revocation lists read memory or crash',
    { [openssl]: ['>= 1.0.2, < 1.0.2zg', '>= 1.1.1, < 1.1.1t', '>= 3.0.0, < 3.0.8'] },
  ),
];

import { cvesOf } from './entry.ts';

const openssl = cvesOf('a:openssl:openssl');

/** TLS libraries that servers name in their responses. */
export const tlsLibraryCves = [
  openssl('CVE-2014-0160', 'NLNN/U/HNN', ['>= 1.0.1, < 1.0.1g'], {
    title: 'Heartbeat messages read memory of the server (Heartbleed)',
    remedy: 'After the update replace keys and certificates, and have passwords changed.',
  }),
  openssl('CVE-2014-0224', 'NHNN/U/HHN', ['< 0.9.8za', '>= 1.0.0, < 1.0.0m', '>= 1.0.1, < 1.0.1h'], {
    title: 'An early ChangeCipherSpec lets somebody on the path read the session',
  }),
  openssl('CVE-2016-0800', 'NHNN/U/HNN', ['>= 1.0.1, < 1.0.1s', '>= 1.0.2, < 1.0.2g'], {
    title: 'SSLv2 with the same key lets recorded sessions be decrypted (DROWN)',
  }),
  openssl('CVE-2016-2107', 'NHNN/U/HNN', ['< 1.0.1t', '>= 1.0.2, < 1.0.2h'], {
    title: 'The padding check of AES-CBC lets somebody on the path decrypt',
  }),
  openssl('CVE-2020-1967', 'NLNN/U/NNH', ['>= 1.1.1d, < 1.1.1g'], {
    title: 'An invalid signature algorithm in a TLS 1.3 handshake crashes the server',
  }),
  openssl('CVE-2021-3449', 'NHNN/U/NNH', ['>= 1.1.1, < 1.1.1k'], {
    title: 'A crafted renegotiation crashes a TLS 1.2 server',
  }),
  openssl('CVE-2021-3711', 'NLNN/U/HHH', ['>= 1.1.1, < 1.1.1l'], {
    title: 'Decryption with SM2 overflows a buffer',
  }),
  openssl('CVE-2022-0778', 'NLNN/U/NNH', ['>= 1.0.2, < 1.0.2zd', '>= 1.1.1, < 1.1.1n', '>= 3.0.0, < 3.0.2'], {
    title: 'A certificate with invalid curve parameters sends its reader into an endless loop',
  }),
  openssl('CVE-2022-2274', 'NLNN/U/HHH', ['= 3.0.4'], {
    title: 'RSA with 2048 bits corrupts memory on processors with AVX512IFMA',
  }),
  openssl('CVE-2022-3602', 'NLNN/U/NNH', ['>= 3.0.0, < 3.0.7'], {
    title: 'A mail address in a certificate overflows the stack by four bytes',
  }),
  openssl('CVE-2022-3786', 'NLNN/U/NNH', ['>= 3.0.0, < 3.0.7'], {
    title: 'A mail address in a certificate overflows the stack with dots',
  }),
  openssl('CVE-2023-0286', 'NHNN/U/HNH', ['>= 1.0.2, < 1.0.2zg', '>= 1.1.1, < 1.1.1t', '>= 3.0.0, < 3.0.8'], {
    title: 'X.400 addresses in certificates and revocation lists read memory or crash',
  }),
];

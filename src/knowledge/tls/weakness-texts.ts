import type { CheckText } from '../weakness.ts';

const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;

const cve = (id: string) => `https://nvd.nist.gov/vuln/detail/${id}`;

const useModern = 'Accept TLS 1.2 and 1.3 only.';

const useGoodSuites =
  'Accept suites with ECDHE and AES-GCM or ChaCha20-Poly1305 only; in TLS 1.3 all common ones are fine.';

export const weaknessTexts = {
  'tls-sslv2': {
    title: 'SSL 2.0 is accepted',
    severity: 'high',
    action: 'Turn off SSL 2.0 and 3.0',
    remediation: `${useModern} Turn SSL 2.0 off on every server that shares the key of this one (DROWN).`,
    references: [rfc(6176), cve('CVE-2016-0800')],
  },
  'tls-sslv3': {
    title: 'SSL 3.0 is accepted',
    severity: 'high',
    action: 'Turn off SSL 2.0 and 3.0',
    remediation: `${useModern} SSL 3.0 leaks encrypted content byte by byte (POODLE).`,
    references: [rfc(7568), cve('CVE-2014-3566')],
  },
  'tls-poodle': {
    title: 'CBC suites are accepted in SSL 3.0 (POODLE)',
    severity: 'medium',
    action: 'Turn off SSL 2.0 and 3.0',
    remediation: useModern,
    references: [cve('CVE-2014-3566')],
  },
  'tls-v1-0': {
    title: 'TLS 1.0 is accepted',
    severity: 'medium',
    action: 'Turn off TLS 1.0 and 1.1',
    remediation: useModern,
    references: [rfc(8996)],
  },
  'tls-v1-1': {
    title: 'TLS 1.1 is accepted',
    severity: 'medium',
    action: 'Turn off TLS 1.0 and 1.1',
    remediation: useModern,
    references: [rfc(8996)],
  },
  'tls-v1-2': {
    title: 'TLS 1.2 is accepted',
    severity: 'low',
    action: 'Turn off TLS 1.2',
    remediation: 'Accept TLS 1.3 only, as the settings of this check require.',
    references: [rfc(9325)],
  },
  'tls-no-v1-3': {
    title: 'TLS 1.3 is not accepted',
    severity: 'low',
    action: 'Turn on TLS 1.3',
    remediation: 'Turn TLS 1.3 on, or update the TLS library to one that has it.',
    references: ['https://doi.org/10.6028/NIST.SP.800-52r2', rfc(8446)],
  },
  'tls-null': {
    title: 'Suites without encryption are accepted',
    severity: 'high',
    action: 'Turn off weak TLS cipher suites',
    remediation: useGoodSuites,
    references: [rfc(9325)],
  },
  'tls-anonymous': {
    title: 'Suites without authentication are accepted',
    severity: 'high',
    action: 'Turn off weak TLS cipher suites',
    remediation: `${useGoodSuites} A man in the middle can impersonate a server that presents no certificate.`,
    references: [rfc(9325)],
  },
  'tls-export': {
    title: 'Export suites are accepted',
    severity: 'high',
    action: 'Turn off weak TLS cipher suites',
    remediation: `${useGoodSuites} Keys of 40 bits are broken in minutes, and the short keys of these suites endanger all connections (FREAK, Logjam).`,
    references: [cve('CVE-2015-0204'), cve('CVE-2015-4000')],
  },
  'tls-rc4': {
    title: 'RC4 is accepted',
    severity: 'medium',
    action: 'Turn off weak TLS cipher suites',
    remediation: useGoodSuites,
    references: [rfc(7465), cve('CVE-2013-2566'), cve('CVE-2015-2808')],
  },
  'tls-des': {
    title: 'Suites with keys of 56 bits or less are accepted',
    severity: 'high',
    action: 'Turn off weak TLS cipher suites',
    remediation: useGoodSuites,
    references: [rfc(5469)],
  },
  'tls-3des': {
    title: 'Suites with blocks of 64 bits are accepted (SWEET32)',
    severity: 'medium',
    action: 'Turn off weak TLS cipher suites',
    remediation: `${useGoodSuites} Long connections with such blocks leak content.`,
    references: [cve('CVE-2016-2183')],
  },
  'tls-beast': {
    title: 'CBC suites are accepted in TLS 1.0 or older',
    severity: 'low',
    action: 'Turn off TLS 1.0 and 1.1',
    remediation: useModern,
    references: [cve('CVE-2011-3389')],
  },
  'tls-cbc': {
    title: 'CBC suites are accepted',
    severity: 'low',
    action: 'Turn off weak TLS cipher suites',
    remediation: `${useGoodSuites} Many implementations of CBC leaked content by their timing (Lucky Thirteen).`,
    references: [rfc(9325), cve('CVE-2013-0169')],
  },
  'tls-no-forward-secrecy': {
    title: 'No forward secrecy',
    severity: 'medium',
    action: 'Turn off weak TLS cipher suites',
    remediation: `${useGoodSuites} Without it, whoever gets the key of the server can decrypt recorded traffic.`,
    references: [rfc(9325)],
  },
  'tls-static-key-exchange': {
    title: 'Suites without forward secrecy are accepted',
    severity: 'low',
    action: 'Turn off weak TLS cipher suites',
    remediation: useGoodSuites,
    references: [rfc(9325)],
  },
  'tls-weak-dh': {
    title: 'Diffie-Hellman exchange with a short prime',
    severity: 'medium',
    action: 'Use strong key exchange groups in TLS',
    remediation: 'Use ECDHE alone, or a prime of at least 2048 bits such as ffdhe2048.',
    references: [rfc(7919), cve('CVE-2015-4000')],
  },
  'tls-weak-curve': {
    title: 'Short elliptic curves are accepted',
    severity: 'medium',
    action: 'Use strong key exchange groups in TLS',
    remediation: 'Accept X25519, P-256 and stronger groups only.',
    references: [rfc(8422)],
  },
  'tls-weak-key': {
    title: 'A certificate has a short key',
    severity: 'medium',
    action: 'Reissue certificates with strong keys and signatures',
    remediation:
      'Replace the certificate with one that has an ECDSA key on P-256 or an RSA key of at least 2048 bits.',
    references: [rfc(9325)],
  },
  'tls-weak-signature': {
    title: 'A certificate is signed with a broken hash',
    severity: 'medium',
    action: 'Reissue certificates with strong keys and signatures',
    remediation: 'Have the certificate reissued, signed with SHA-256 or better.',
    references: [rfc(6194), rfc(9155)],
  },
  'tls-compression': {
    title: 'TLS compression is on',
    severity: 'medium',
    action: 'Turn off TLS compression',
    remediation: 'Turn TLS compression off: the compressed length leaks secrets (CRIME).',
    references: [cve('CVE-2012-4929')],
  },
  'tls-insecure-renegotiation': {
    title: 'Renegotiation is not secured',
    severity: 'medium',
    action: 'Turn off insecure TLS renegotiation',
    remediation: 'Update the TLS library to one with secure renegotiation, or turn renegotiation off.',
    references: [rfc(5746), cve('CVE-2009-3555')],
  },
  'tls-client-renegotiation': {
    title: 'Client-initiated renegotiation is allowed',
    severity: 'low',
    action: 'Turn off client-initiated TLS renegotiation',
    remediation:
      'Turn client-initiated renegotiation off: each handshake costs the server far more work than the client, and TLS 1.3 has none.',
    references: [cve('CVE-2011-1473')],
  },
  'tls-heartbleed': {
    title: 'The server leaks its memory (Heartbleed)',
    severity: 'critical',
    action: 'Update the TLS library',
    remediation:
      'Update the TLS library at once; then replace keys, certificates and passwords, as they may be compromised.',
    references: [cve('CVE-2014-0160'), rfc(6520)],
  },
  'tls-early-cipher-change': {
    title: 'ChangeCipherSpec is accepted before the key exchange (CCS injection)',
    severity: 'high',
    action: 'Update the TLS library',
    remediation:
      'Update the TLS library (OpenSSL 0.9.8za, 1.0.0m, 1.0.1h or newer): a man in the middle can read and change the traffic of clients with the same flaw.',
    references: [cve('CVE-2014-0224')],
  },
  'tls-ticketbleed': {
    title: 'The server leaks its memory through session tickets (Ticketbleed)',
    severity: 'high',
    action: 'Update F5 BIG-IP, or turn off its session tickets',
    remediation:
      'Update the device (F5 BIG-IP: K05121675), or turn session tickets off in its client SSL profiles; then replace keys and passwords that may have been in its memory.',
    references: [cve('CVE-2016-9244'), 'https://my.f5.com/manage/s/article/K05121675'],
  },
  'tls-robot': {
    title: 'The server is a decryption oracle (ROBOT)',
    severity: 'high',
    action: 'Turn off TLS suites with RSA key exchange',
    remediation:
      'Update the TLS library or the device, and turn off the suites with RSA key exchange (TLS_RSA_*): anyone can decrypt recorded connections and sign with the key of this server.',
    references: ['https://robotattack.org/', cve('CVE-2017-13099')],
  },
  'tls-no-fallback-scsv': {
    title: 'Forced downgrades are not detected',
    severity: 'low',
    action: 'Turn off TLS 1.0 and 1.1',
    remediation: `${useModern} If old versions must stay, use a TLS library with TLS_FALLBACK_SCSV.`,
    references: [rfc(7507)],
  },
  'tls-no-extended-master-secret': {
    title: 'The extended master secret is not supported',
    severity: 'info',
    action: 'Update the TLS library',
    remediation: 'Update the TLS library; the extension binds the keys of TLS 1.2 to the handshake.',
    references: [rfc(7627)],
  },
  'tls-no-post-quantum': {
    title: 'No quantum-resistant key exchange is offered',
    severity: 'info',
    action: 'Turn on quantum-resistant key exchange in TLS',
    remediation:
      'Update the TLS library to one with X25519MLKEM768 (OpenSSL 3.5, Go 1.24, recent BoringSSL), and keep it in the groups: traffic recorded today can be decrypted later.',
    references: ['https://csrc.nist.gov/pubs/fips/203/final'],
  },
  'tls-early-data': {
    title: 'Requests are accepted before the handshake is complete (0-RTT)',
    severity: 'info',
    action: 'Turn off early data in TLS 1.3',
    remediation:
      'Turn early data off, or accept only requests without side effects early: recorded ones can be replayed.',
    references: ['https://www.rfc-editor.org/rfc/rfc8446#section-8', rfc(8470)],
  },
  'tls-must-staple-ignored': {
    title: 'The certificate requires a stapled status, and the server sends none',
    severity: 'low',
    action: 'Turn on OCSP stapling',
    remediation:
      'Turn OCSP stapling on (ssl_stapling, SSLUseStapling), or have the certificate reissued without must-staple: clients that enforce it reject the server.',
    references: [rfc(7633)],
  },
  'tls-client-cipher-order': {
    title: 'The client can choose a weak suite',
    severity: 'low',
    action: 'Turn off weak TLS cipher suites',
    remediation: 'Turn the weak suites off, or make the server choose between suites.',
    references: [rfc(9325)],
  },
} as const satisfies Record<string, CheckText>;

export type CheckId = keyof typeof weaknessTexts;

import { expect, test } from 'vitest';
import { certificateDer } from './test-certificate.ts';
import { type CertificateFacts, chainLimit, parseCertificate, parseTls } from './tls.ts';

const read = (options: Parameters<typeof certificateDer>[0]) =>
  parseCertificate(certificateDer(options).toString('base64'));

test('reads the fields of a certificate', () => {
  const facts = read({ commonName: 'a.example', serial: [0x01, 0x23] });
  expect(facts).toMatchObject({
    subject: 'CN=a.example',
    issuer: 'CN=a.example',
    not_before: '2025-01-01T00:00:00.000Z',
    not_after: '2035-01-01T00:00:00.000Z',
    key: 'EC 256',
    signature: 'ecdsa-with-SHA256',
    serial: '0123',
  });
  expect((facts as CertificateFacts).sha256).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  [
    'NUL in the name',
    { commonName: 'good.example\0.evil.example' },
    { subject: 'CN=good.example\\00.evil.example' },
  ],
  ['markup in the name', { commonName: '<script>alert(1)</script>' }, {}],
  ['bidirectional marks in the name', { commonName: '\u202emoc.elgoog' }, {}],
  ['a line end in the name', { commonName: 'a\nCN=b' }, { subject: 'CN=a\\0ACN=b' }],
  [
    'the year 9999',
    { commonName: 'a', notAfter: '99991231235959Z' },
    { not_after: '9999-12-31T23:59:59.000Z' },
  ],
  [
    'a date before 1970',
    { commonName: 'a', notBefore: '19500101000000Z' },
    { not_before: '1950-01-01T00:00:00.000Z' },
  ],
  ['a negative serial number', { commonName: 'a', serial: [0xff, 0x01] }, {}],
])('%s is read or refused with a reason', (_, options, expected) => {
  const facts = read(options);
  if ('error' in facts) expect(facts.error).not.toBe('');
  else expect(facts).toMatchObject(expected);
  expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
});

test.each([
  ['nothing', ''],
  ['no DER', Buffer.from('hello').toString('base64')],
  ['half a certificate', certificateDer({ commonName: 'a' }).subarray(0, 90).toString('base64')],
  ['an impossible date', certificateDer({ commonName: 'a', notAfter: '20259999999999Z' }).toString('base64')],
  ['100 KiB', Buffer.alloc(100 * 1024, 0x30).toString('base64')],
])('%s does not throw', (_, der) => {
  expect(() => JSON.stringify(parseCertificate(der))).not.toThrow();
});

test('a chain is truncated and versions use API names', () => {
  const der = certificateDer({ commonName: 'a' }).toString('base64');
  const { facts, truncated } = parseTls({
    version: 'TLSv1',
    cipher: 'x',
    alpn: null,
    chain: Array(40).fill(der),
  });
  expect(facts.version).toBe('TLSv1.0');
  expect(facts.versions).toEqual(['TLSv1.0']);
  expect(facts.chain).toHaveLength(chainLimit - 1);
  expect(truncated).toBe(true);
  expect(parseTls({ version: 'TLSv1.3', cipher: 'x', alpn: 'h2', chain: [] }).facts.certificate).toBeNull();
});

test('an enumeration adds all accepted versions and ciphers', () => {
  const der = certificateDer({ commonName: 'b' }).toString('base64');
  const survey = {
    accepted: [
      { version: 'SSLv3', suites: ['A', 'B'], order: 'server' as const },
      { version: 'TLSv1.0', suites: ['B'], order: null },
    ],
    groups: ['x25519'],
    dh_bits: 1024,
    export_rsa_bits: null,
    alpn_protocols: ['http/1.1'],
    compression: false,
    secure_renegotiation: true,
    extended_master_secret: true,
    session_tickets: true,
    fallback_scsv: null,
    other_chains: [[der, der]],
    handshakes: 9,
    complete: false,
  };
  const { facts } = parseTls({ version: 'TLSv1', cipher: 'B', alpn: 'h2', chain: [], survey });
  expect(facts).toMatchObject({
    version: 'TLSv1.0',
    versions: ['SSLv3', 'TLSv1.0'],
    suites: ['A', 'B'],
    accepted: survey.accepted,
    dh_bits: 1024,
    alpn_protocols: ['http/1.1', 'h2'],
    other_certificates: [{ subject: 'CN=b' }],
    survey: 'partial',
  });
  expect(facts).not.toHaveProperty('handshakes');
});

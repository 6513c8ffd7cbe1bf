import { describe, expect, test } from 'vitest';
import { runModule, tryModule } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import type { ParsedService } from '../../domain/service.ts';
import definition from './weak_cipher_checker.ts';

const parsed = (parser: string, attributes: Record<string, unknown>, port = 443): ParsedService => ({
  host: '192.0.2.1',
  port,
  protocol: 'tcp',
  service: 'x',
  parser,
  attributes,
  truncated: false,
});

const run = (services: ParsedService[], config: Record<string, unknown> = {}) =>
  runModule<HostFinding>(definition, { parsed_services: services, service_fingerprints: [] }, config);

const certificate = {
  subject: 'CN=a.example',
  sans: [],
  issuer: 'CN=Example CA',
  not_before: null,
  not_after: null,
  key: 'RSA 2048',
  signature: 'sha256WithRSAEncryption',
  self_signed: false,
  sha256: '00',
  serial: '01',
};

const handshake = {
  version: 'TLSv1.3',
  cipher: 'TLS_AES_256_GCM_SHA384',
  alpn: null,
  versions: ['TLSv1.3'],
  certificate,
  chain: [],
};

const good = {
  ...handshake,
  versions: ['TLSv1.2', 'TLSv1.3'],
  suites: [],
  accepted: [
    { version: 'TLSv1.2', suites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'], order: null },
    { version: 'TLSv1.3', suites: ['TLS_AES_256_GCM_SHA384'], order: null },
  ],
  groups: ['X25519MLKEM768', 'x25519'],
  dh_bits: null,
  export_rsa_bits: null,
  alpn_protocols: [],
  compression: false,
  secure_renegotiation: true,
  extended_master_secret: true,
  session_tickets: true,
  fallback_scsv: true,
  other_certificates: [],
  survey: 'complete',
};

const accepting = (version: string, ...suites: string[]) => ({
  ...good,
  accepted: [...good.accepted, { version, suites, order: null }],
});

async function idsOf(facts: object, config: Record<string, unknown> = {}): Promise<string[]> {
  return (await run([parsed('tls_parser', { tls: facts })], config)).map(({ id }) => id);
}

describe('TLS', () => {
  test('a server as it should be has no finding', async () => {
    expect(await idsOf(good)).toEqual([]);
    expect(await idsOf(handshake)).toEqual([]);
  });

  test('a finding is whole', async () => {
    const [finding] = await run([parsed('tls_parser', { tls: accepting('SSLv3') })]);
    expect(finding).toEqual({
      host: '192.0.2.1',
      port: 443,
      protocol: 'tcp',
      id: 'tls-sslv3',
      title: 'SSL 3.0 is accepted',
      severity: 'high',
      confidence: 1,
      detected: 'SSLv3',
      evidence: expect.stringContaining('SSLv3'),
      remediation: expect.stringMatching(/\w{4}/),
      references: expect.arrayContaining([expect.stringMatching(/^https:/)]),
      cvss: null,
      kev: false,
      epss: null,
      cpe: null,
      affected: null,
      backport_note: null,
      affected_from: null,
      fixed_in: null,
      action: { key: 'turn off ssl 2.0 and 3.0', text: 'Turn off SSL 2.0 and 3.0', update: false },
      class: 'certain',
      plugin: 'weak_cipher_checker',
    });
  });

  test.each([
    ['TLS_RSA_WITH_NULL_SHA', 'TLSv1.2', ['tls-null', 'tls-static-key-exchange']],
    ['TLS_SHA256_SHA256', 'TLSv1.3', ['tls-null']],
    ['TLS_DH_anon_WITH_AES_128_GCM_SHA256', 'TLSv1.2', ['tls-anonymous']],
    ['TLS_RSA_EXPORT_WITH_RC4_40_MD5', 'TLSv1.2', ['tls-export', 'tls-rc4', 'tls-static-key-exchange']],
    ['TLS_ECDHE_RSA_WITH_RC4_128_SHA', 'TLSv1.2', ['tls-rc4']],
    ['TLS_DHE_RSA_WITH_DES_CBC_SHA', 'TLSv1.2', ['tls-des', 'tls-cbc']],
    ['TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA', 'TLSv1.2', ['tls-3des', 'tls-cbc']],
    ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLSv1.0', ['tls-v1-0', 'tls-cbc', 'tls-beast']],
    ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLSv1.1', ['tls-v1-1', 'tls-cbc']],
    ['SSL2_RC4_128_WITH_MD5', 'SSLv2', ['tls-sslv2', 'tls-rc4']],
    ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'SSLv3', ['tls-sslv3', 'tls-cbc', 'tls-beast', 'tls-poodle']],
    ['TLS_ECDHE_RSA_WITH_RC4_128_SHA', 'SSLv3', ['tls-sslv3', 'tls-rc4']],
  ])('%s in %s', async (suite, version, expected) => {
    expect(await idsOf(accepting(version, suite))).toEqual(expected);
  });

  test.each([
    [{ dh_bits: 1024 }, ['tls-weak-dh medium']],
    [{ dh_bits: 512 }, ['tls-weak-dh high']],
    [{ groups: ['X25519MLKEM768', 'secp160r1'] }, ['tls-weak-curve medium']],
    [{ groups: ['x25519', 'secp256r1'] }, ['tls-no-post-quantum info']],
    [{ groups: ['x25519'], survey: 'partial' }, []],
    [{ early_data: 0 }, []],
    [{ early_data: 16_384 }, ['tls-early-data info']],
    [{ ocsp_stapling: false }, []],
    [
      { ocsp_stapling: false, certificate: { ...certificate, must_staple: true } },
      ['tls-must-staple-ignored low'],
    ],
    [{ ocsp_stapling: true, certificate: { ...certificate, must_staple: true } }, []],
    [{ early_cipher_change: false }, []],
    [{ early_cipher_change: true }, ['tls-early-cipher-change high']],
    [{ ticketbleed_bytes: 0 }, []],
    [{ ticketbleed_bytes: 31 }, ['tls-ticketbleed high']],
    [{ chain: [{ ...certificate, key: 'RSA 1024' }] }, ['tls-weak-key medium']],
    [{ compression: true }, ['tls-compression medium']],
    [{ secure_renegotiation: false }, ['tls-insecure-renegotiation medium']],
    [{ fallback_scsv: false }, ['tls-no-fallback-scsv low']],
    [{ client_renegotiation: true }, ['tls-client-renegotiation low']],
    [{ heartbeat: true, heartbleed_bytes: 0 }, []],
    [{ heartbeat: true, heartbleed_bytes: 16 }, ['tls-heartbleed critical']],
    [{ padding_reactions: [] }, []],
    [{ padding_reactions: ['none: alert 20, open', 'start: alert 51, open'] }, ['tls-robot high']],
    [{ extended_master_secret: false }, ['tls-no-extended-master-secret info']],
    [{ certificate: { ...certificate, key: 'RSA 1024' } }, ['tls-weak-key medium']],
    [{ certificate: { ...certificate, key: 'RSA 512' } }, ['tls-weak-key high']],
    [{ certificate: { ...certificate, key: 'EC 192' } }, ['tls-weak-key medium']],
    [{ certificate: { ...certificate, key: 'EC 256' } }, []],
    [{ other_certificates: [{ ...certificate, key: 'RSA 768' }] }, ['tls-weak-key high']],
    [{ certificate: { ...certificate, signature: 'sha1WithRSAEncryption' } }, ['tls-weak-signature medium']],
    [{ certificate: { ...certificate, signature: 'md5WithRSAEncryption' } }, ['tls-weak-signature high']],
    [{ certificate: { ...certificate, signature: 'ecdsa-with-SHA1' } }, ['tls-weak-signature medium']],
    [{ certificate: { error: 'is not readable' } }, []],
    [
      {
        chain: [
          {
            subject: 'CN=Old CA',
            issuer: 'CN=Root',
            not_after: null,
            signature: 'sha1WithRSAEncryption',
            sha256: '',
          },
        ],
      },
      ['tls-weak-signature medium'],
    ],
    [
      {
        chain: [
          {
            subject: 'CN=R',
            issuer: 'CN=R',
            not_after: null,
            signature: 'sha1WithRSAEncryption',
            sha256: '',
          },
        ],
      },
      [],
    ],
  ])('%j', async (change, expected) => {
    const findings = await run([parsed('tls_parser', { tls: { ...good, ...change } })]);
    expect(findings.map(({ id, severity }) => `${id} ${severity}`)).toEqual(expected);
  });

  test('what the client may choose is a finding where it is weak', async () => {
    const suites = ['TLS_ECDHE_RSA_WITH_RC4_128_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
    const facts = { ...good, accepted: [{ version: 'TLSv1.2', suites, order: 'client' }] };
    expect(await idsOf(facts)).toEqual(['tls-no-v1-3', 'tls-rc4', 'tls-client-cipher-order']);
    const strong = { ...facts, accepted: [{ version: 'TLSv1.2', suites: suites.slice(1), order: 'client' }] };
    expect(await idsOf(strong)).toEqual(['tls-no-v1-3']);
  });

  test('a partial enumeration is no evidence that TLS 1.3 is missing', async () => {
    const suites = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
    const facts = { ...good, accepted: [{ version: 'TLSv1.2', suites, order: null }], survey: 'partial' };
    expect(await idsOf(facts)).toEqual([]);
  });

  test.each([
    ['TLS_RSA_EXPORT_WITH_RC4_40_MD5', 'FREAK: TLSv1.0: '],
    ['TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA', 'Logjam: TLSv1.0: '],
  ])('the evidence for %s names its attack', async (suite, start) => {
    const findings = await run([parsed('tls_parser', { tls: accepting('TLSv1.0', suite) })]);
    expect(findings.find(({ id }) => id === 'tls-export')?.evidence).toBe(`${start}${suite}`);
  });

  test('no suite with forward secrecy is worse than one without', async () => {
    const suites = ['TLS_RSA_WITH_AES_128_GCM_SHA256'];
    const facts = { ...good, accepted: [{ version: 'TLSv1.2', suites, order: null }] };
    expect(await idsOf(facts)).toEqual(['tls-no-v1-3', 'tls-no-forward-secrecy']);
  });

  test('one handshake proves what it showed, with less confidence', async () => {
    const facts = { ...handshake, version: 'TLSv1.0', cipher: 'TLS_RSA_WITH_AES_128_CBC_SHA' };
    const findings = await run([parsed('tls_parser', { tls: facts })]);
    expect(findings.map(({ id, confidence }) => `${id} ${confidence}`)).toEqual([
      'tls-v1-0 0.95',
      'tls-cbc 0.95',
      'tls-beast 0.95',
      'tls-static-key-exchange 0.95',
    ]);
  });

  test('the options set the limits', async () => {
    expect(await idsOf(good, { min_tls: '1.3' })).toEqual(['tls-v1-2']);
    expect(await idsOf(good, { min_tls: 1.3 })).toEqual(['tls-v1-2']);
    expect(await idsOf(accepting('TLSv1.1'), { min_tls: '1.1' })).toEqual([]);
    expect(await idsOf(good, { min_rsa_bits: 3072 })).toEqual(['tls-weak-key']);
    await expect(idsOf(good, { min_tls: '2.0' })).rejects.toThrow(/min_tls must be one of/);
  });
});

describe('SSH', () => {
  const strict = {
    version: '2.0',
    software: 'OpenSSH_9.9',
    comment: null,
    kex_algorithms: ['curve25519-sha256', 'kex-strict-s-v00@openssh.com'],
    host_key_types: ['ssh-ed25519', 'rsa-sha2-512', 'ecdsa-sha2-nistp256'],
    ciphers: ['chacha20-poly1305@openssh.com', 'aes256-ctr', 'aes128-gcm@openssh.com'],
    macs: ['hmac-sha2-256-etm@openssh.com', 'umac-128@openssh.com'],
  };
  const everyFinding = async (change: object) =>
    (await run([parsed('ssh_parser', { ssh: { ...strict, ...change } }, 22)])).map(
      ({ id, severity, detected }) => `${id} ${severity} ${detected}`,
    );
  const findings = async (change: object) =>
    (await everyFinding(change)).filter((text) => !text.startsWith('ssh-no-post-quantum'));

  test.each([
    [['curve25519-sha256', 'kex-strict-s-v00@openssh.com'], ['ssh-no-post-quantum info none']],
    [['mlkem768x25519-sha256', 'curve25519-sha256', 'kex-strict-s-v00@openssh.com'], []],
    [['sntrup761x25519-sha512@openssh.com', 'kex-strict-s-v00@openssh.com'], []],
  ])('exchanges that resist quantum computers: %j', async (kex_algorithms, expected) => {
    expect(await everyFinding({ kex_algorithms })).toEqual(expected);
  });

  test.each([
    [{ host_keys: [{ type: 'ssh-ed25519', sha256: 'a' }] }, []],
    [{ host_keys: [{ type: 'ssh-rsa', sha256: 'a', bits: 2048 }] }, []],
    [
      { rsa_host_key: { type: 'ssh-rsa', sha256: 'a', bits: 1024 } },
      ['ssh-short-host-key medium ssh-rsa 1024'],
    ],
    [{ host_keys: [{ type: 'ssh-dss', sha256: 'a', bits: 768 }] }, ['ssh-short-host-key high ssh-dss 768']],
    [{ shortest_group: 2048 }, []],
    [{ shortest_group: 1024 }, ['ssh-short-group medium 1024 bits']],
    [{ shortest_group: 512 }, ['ssh-short-group high 512 bits']],
    [
      { kex_algorithms: [...strict.kex_algorithms, 'ecdh-sha2-nistp192', 'ecdh-sha2-1.3.132.0.10'] },
      ['ssh-weak-kex medium ecdh-sha2-nistp192'],
    ],
  ])('keys, primes and curves: %j', async (change, expected) => {
    expect(await findings(change)).toEqual(expected);
  });

  test.each([
    [{}, []],
    [
      { kex_algorithms: ['diffie-hellman-group1-sha1', 'curve25519-sha256'], ciphers: ['aes128-ctr'] },
      ['ssh-weak-kex medium diffie-hellman-group1-sha1'],
    ],
    [
      { kex_algorithms: [...strict.kex_algorithms, 'diffie-hellman-group14-sha1'] },
      ['ssh-weak-kex low diffie-hellman-group14-sha1'],
    ],
    [{ host_key_types: ['ssh-rsa', 'ssh-dss'] }, ['ssh-weak-host-key medium ssh-rsa, ssh-dss']],
    [{ ciphers: ['aes128-cbc', 'arcfour'] }, ['ssh-weak-cipher medium aes128-cbc, arcfour']],
    [{ macs: ['hmac-sha1', 'hmac-md5-96'] }, ['ssh-weak-mac medium hmac-sha1, hmac-md5-96']],
    [{ macs: ['umac-64-etm@openssh.com'] }, ['ssh-weak-mac low umac-64-etm@openssh.com']],
    [{ version: '1.99' }, ['ssh-protocol-1 high 1.99']],
    [{ kex_algorithms: ['curve25519-sha256'] }, ['ssh-terrapin medium chacha20-poly1305@openssh.com']],
    [{ kex_algorithms: ['curve25519-sha256'], ciphers: ['aes256-ctr'] }, []],
    [
      { kex_algorithms: ['curve25519-sha256'], ciphers: ['aes256-cbc'] },
      ['ssh-weak-cipher low aes256-cbc', 'ssh-terrapin medium aes256-cbc'],
    ],
    [{ kex_algorithms: undefined, ciphers: undefined, macs: undefined, host_key_types: undefined }, []],
  ])('%j', async (change, expected) => {
    expect(await findings(change)).toEqual(expected);
  });
});

test('evaluates partial facts of an interrupted scan', async () => {
  const services = [
    parsed('tls_parser', { tls: { version: 'TLSv1.1', cipher: 'x', alpn: null } }, 1),
    parsed('tls_parser', { tls: {} }, 2),
    parsed('ssh_parser', { ssh: {} }, 3),
  ];
  expect((await run(services)).map(({ id, port }) => `${id} ${port}`)).toEqual(['tls-v1-1 1']);
});

test('reports a repeated port once', async () => {
  const service = parsed('tls_parser', { tls: accepting('SSLv3') });
  expect(await run([service, service])).toHaveLength(1);
});

test('warns that it evaluated nothing without a parser before it', async () => {
  const { warnings } = await tryModule(definition, { inputs: { service_fingerprints: [] } });
  expect(warnings).toEqual([expect.stringMatching(/^not_evaluated: /)]);
});

test('a weakness of a further site names it', async () => {
  const weak = { name: 'v2.test', tls: { ...handshake, certificate: { ...certificate, key: 'RSA 1024' } } };
  const found = await run([parsed('tls_parser', { tls: handshake, sites: [weak, { name: 'v3.test' }] })]);
  expect(found.map(({ id, evidence }) => [id, evidence])).toEqual([
    ['tls-weak-key', expect.stringMatching(/^v2\.test: /)],
  ]);
});

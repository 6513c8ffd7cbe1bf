import type { TlsVersionSupport } from '../../domain/banner.ts';
import type { CertificateFacts, CertificateRejection, TlsFacts } from '../protocols/tls.ts';
import { type CheckText, listed, type Weakness } from '../weakness.ts';
import { groupNamed } from './groups.ts';
import { flawsOf, hasForwardSecrecy, type SuiteFlaw, suiteNamed } from './suites.ts';

export interface TlsRequirements {
  /** The oldest version that is no weakness: `1.0` to `1.3`. */
  minTls: string;
  minRsaBits: number;
}

/** Where the facts come from: many handshakes prove more than one. */
const surveyConfidence = 1;
const handshakeConfidence = 0.95;

const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;
const cve = (id: string) => `https://nvd.nist.gov/vuln/detail/${id}`;

const useModern = 'Accept TLS 1.2 and 1.3 only.';
const useGoodSuites =
  'Accept suites with ECDHE and AES-GCM or ChaCha20-Poly1305 only; in TLS 1.3 all common ones are fine.';

const texts = {
  'tls-sslv2': {
    title: 'SSL 2.0 is accepted',
    severity: 'high',
    remediation: `${useModern} Turn SSL 2.0 off on every server that shares the key of this one (DROWN).`,
    references: [rfc(6176), cve('CVE-2016-0800')],
  },
  'tls-sslv3': {
    title: 'SSL 3.0 is accepted',
    severity: 'high',
    remediation: `${useModern} SSL 3.0 leaks encrypted content byte by byte (POODLE).`,
    references: [rfc(7568), cve('CVE-2014-3566')],
  },
  'tls-poodle': {
    title: 'CBC suites are accepted in SSL 3.0 (POODLE)',
    severity: 'medium',
    remediation: useModern,
    references: [cve('CVE-2014-3566')],
  },
  'tls-v1-0': {
    title: 'TLS 1.0 is accepted',
    severity: 'medium',
    remediation: useModern,
    references: [rfc(8996)],
  },
  'tls-v1-1': {
    title: 'TLS 1.1 is accepted',
    severity: 'medium',
    remediation: useModern,
    references: [rfc(8996)],
  },
  'tls-v1-2': {
    title: 'TLS 1.2 is accepted',
    severity: 'low',
    remediation: 'Accept TLS 1.3 only, as the settings of this check require.',
    references: [rfc(9325)],
  },
  'tls-no-v1-3': {
    title: 'TLS 1.3 is not accepted',
    severity: 'low',
    remediation: 'Turn TLS 1.3 on, or update the TLS library to one that has it.',
    references: ['https://doi.org/10.6028/NIST.SP.800-52r2', rfc(8446)],
  },
  'tls-null': {
    title: 'Suites without encryption are accepted',
    severity: 'high',
    remediation: useGoodSuites,
    references: [rfc(9325)],
  },
  'tls-anonymous': {
    title: 'Suites without authentication are accepted',
    severity: 'high',
    remediation: `${useGoodSuites} A man in the middle can impersonate a server that presents no certificate.`,
    references: [rfc(9325)],
  },
  'tls-export': {
    title: 'Export suites are accepted',
    severity: 'high',
    remediation: `${useGoodSuites} Keys of 40 bits are broken in minutes, and the short keys of these suites endanger all connections (FREAK, Logjam).`,
    references: [cve('CVE-2015-0204'), cve('CVE-2015-4000')],
  },
  'tls-rc4': {
    title: 'RC4 is accepted',
    severity: 'medium',
    remediation: useGoodSuites,
    references: [rfc(7465), cve('CVE-2013-2566'), cve('CVE-2015-2808')],
  },
  'tls-des': {
    title: 'Suites with keys of 56 bits or less are accepted',
    severity: 'high',
    remediation: useGoodSuites,
    references: [rfc(5469)],
  },
  'tls-3des': {
    title: 'Suites with blocks of 64 bits are accepted (SWEET32)',
    severity: 'medium',
    remediation: `${useGoodSuites} Long connections with such blocks leak content.`,
    references: [cve('CVE-2016-2183')],
  },
  'tls-beast': {
    title: 'CBC suites are accepted in TLS 1.0 or older',
    severity: 'low',
    remediation: useModern,
    references: [cve('CVE-2011-3389')],
  },
  'tls-cbc': {
    title: 'CBC suites are accepted',
    severity: 'low',
    remediation: `${useGoodSuites} Many implementations of CBC leaked content by their timing (Lucky Thirteen).`,
    references: [rfc(9325), cve('CVE-2013-0169')],
  },
  'tls-no-forward-secrecy': {
    title: 'No forward secrecy',
    severity: 'medium',
    remediation: `${useGoodSuites} Without it, whoever gets the key of the server can decrypt recorded traffic.`,
    references: [rfc(9325)],
  },
  'tls-static-key-exchange': {
    title: 'Suites without forward secrecy are accepted',
    severity: 'low',
    remediation: useGoodSuites,
    references: [rfc(9325)],
  },
  'tls-weak-dh': {
    title: 'Diffie-Hellman exchange with a short prime',
    severity: 'medium',
    remediation: 'Use ECDHE alone, or a prime of at least 2048 bits such as ffdhe2048.',
    references: [rfc(7919), cve('CVE-2015-4000')],
  },
  'tls-weak-curve': {
    title: 'Short elliptic curves are accepted',
    severity: 'medium',
    remediation: 'Accept X25519, P-256 and stronger groups only.',
    references: [rfc(8422)],
  },
  'tls-weak-key': {
    title: 'A certificate has a short key',
    severity: 'medium',
    remediation:
      'Replace the certificate with one that has an ECDSA key on P-256 or an RSA key of at least 2048 bits.',
    references: [rfc(9325)],
  },
  'tls-weak-signature': {
    title: 'A certificate is signed with a broken hash',
    severity: 'medium',
    remediation: 'Have the certificate reissued, signed with SHA-256 or better.',
    references: [rfc(6194), rfc(9155)],
  },
  'tls-compression': {
    title: 'TLS compression is on',
    severity: 'medium',
    remediation: 'Turn TLS compression off: the compressed length leaks secrets (CRIME).',
    references: [cve('CVE-2012-4929')],
  },
  'tls-insecure-renegotiation': {
    title: 'Renegotiation is not secured',
    severity: 'medium',
    remediation: 'Update the TLS library to one with secure renegotiation, or turn renegotiation off.',
    references: [rfc(5746), cve('CVE-2009-3555')],
  },
  'tls-client-renegotiation': {
    title: 'Client-initiated renegotiation is allowed',
    severity: 'low',
    remediation:
      'Turn client-initiated renegotiation off: each handshake costs the server far more work than the client, and TLS 1.3 has none.',
    references: [cve('CVE-2011-1473')],
  },
  'tls-heartbleed': {
    title: 'The server leaks its memory (Heartbleed)',
    severity: 'critical',
    remediation:
      'Update the TLS library at once; then replace keys, certificates and passwords, as they may be compromised.',
    references: [cve('CVE-2014-0160'), rfc(6520)],
  },
  'tls-early-cipher-change': {
    title: 'ChangeCipherSpec is accepted before the key exchange (CCS injection)',
    severity: 'high',
    remediation:
      'Update the TLS library (OpenSSL 0.9.8za, 1.0.0m, 1.0.1h or newer): a man in the middle can read and change the traffic of clients with the same flaw.',
    references: [cve('CVE-2014-0224')],
  },
  'tls-ticketbleed': {
    title: 'The server leaks its memory through session tickets (Ticketbleed)',
    severity: 'high',
    remediation:
      'Update the device (F5 BIG-IP: K05121675), or turn session tickets off in its client SSL profiles; then replace keys and passwords that may have been in its memory.',
    references: [cve('CVE-2016-9244'), 'https://my.f5.com/manage/s/article/K05121675'],
  },
  'tls-robot': {
    title: 'The server is a decryption oracle (ROBOT)',
    severity: 'high',
    remediation:
      'Update the TLS library or the device, and turn off the suites with RSA key exchange (TLS_RSA_*): anyone can decrypt recorded connections and sign with the key of this server.',
    references: ['https://robotattack.org/', cve('CVE-2017-13099')],
  },
  'tls-no-fallback-scsv': {
    title: 'Forced downgrades are not detected',
    severity: 'low',
    remediation: `${useModern} If old versions must stay, use a TLS library with TLS_FALLBACK_SCSV.`,
    references: [rfc(7507)],
  },
  'tls-no-extended-master-secret': {
    title: 'The extended master secret is not supported',
    severity: 'info',
    remediation: 'Update the TLS library; the extension binds the keys of TLS 1.2 to the handshake.',
    references: [rfc(7627)],
  },
  'tls-no-post-quantum': {
    title: 'No quantum-resistant key exchange is offered',
    severity: 'info',
    remediation:
      'Update the TLS library to one with X25519MLKEM768 (OpenSSL 3.5, Go 1.24, recent BoringSSL), and keep it in the groups: traffic recorded today can be decrypted later.',
    references: ['https://csrc.nist.gov/pubs/fips/203/final'],
  },
  'tls-early-data': {
    title: 'Requests are accepted before the handshake is complete (0-RTT)',
    severity: 'info',
    remediation:
      'Turn early data off, or accept only requests without side effects early: recorded ones can be replayed.',
    references: ['https://www.rfc-editor.org/rfc/rfc8446#section-8', rfc(8470)],
  },
  'tls-must-staple-ignored': {
    title: 'The certificate requires a stapled status, and the server sends none',
    severity: 'low',
    remediation:
      'Turn OCSP stapling on (ssl_stapling, SSLUseStapling), or have the certificate reissued without must-staple: clients that enforce it reject the server.',
    references: [rfc(7633)],
  },
  'tls-client-cipher-order': {
    title: 'The client can choose a weak suite',
    severity: 'low',
    remediation: 'Turn the weak suites off, or make the server choose between suites.',
    references: [rfc(9325)],
  },
} as const satisfies Record<string, CheckText>;

type CheckId = keyof typeof texts;

/** Facts as they are known: what was recorded before an interruption may be in part. */
type KnownFacts = Partial<TlsFacts>;

/** Every weakness of a TLS server that its facts prove; a single handshake proves less than a survey. */
export function tlsWeaknesses(facts: KnownFacts, demands: TlsRequirements): Weakness[] {
  const accepted = facts.accepted ?? [negotiated(facts)];
  return [
    ...versionWeaknesses(accepted, demands),
    ...missingVersion(facts),
    ...missingGroup(facts),
    ...suiteWeaknesses(accepted),
    ...secrecyWeaknesses(accepted, facts.accepted !== undefined),
    ...keyWeaknesses(facts, demands),
    ...handshakeWeaknesses(facts),
  ].map((weakness) => ({
    ...weakness,
    confidence: facts.accepted === undefined ? handshakeConfidence : surveyConfidence,
  }));
}

function negotiated({ version = 'unknown', cipher = 'unknown' }: KnownFacts): TlsVersionSupport {
  return { version, suites: [cipher], order: null };
}

type Proof = Pick<Weakness, 'detected' | 'evidence'> & Partial<Pick<Weakness, 'severity'>>;

function found(id: CheckId, proof: Proof): Weakness {
  return { id, confidence: 1, ...texts[id], ...proof };
}

const versionChecks: readonly (readonly [version: string, number: string, id: CheckId])[] = [
  ['SSLv2', '0.2', 'tls-sslv2'],
  ['SSLv3', '0.3', 'tls-sslv3'],
  ['TLSv1.0', '1.0', 'tls-v1-0'],
  ['TLSv1.1', '1.1', 'tls-v1-1'],
  ['TLSv1.2', '1.2', 'tls-v1-2'],
];

function versionWeaknesses(accepted: readonly TlsVersionSupport[], { minTls }: TlsRequirements): Weakness[] {
  return versionChecks.flatMap(([version, number, id]) => {
    const seen = accepted.find((each) => each.version === version);
    if (!seen || number >= minTls) return [];
    return [found(id, { detected: version, evidence: `${version} with ${listed(seen.suites)}` })];
  });
}

/** Only a survey to its end proves that something is missing. */
function missingVersion({ accepted, survey }: KnownFacts): Weakness[] {
  if (survey !== 'complete' || !accepted || accepted.some(({ version }) => version === 'TLSv1.3')) return [];
  const newest = accepted.at(-1)?.version;
  return newest
    ? [found('tls-no-v1-3', { detected: newest, evidence: `the newest version is ${newest}` })]
    : [];
}

/** In TLS 1.3 alone there are groups that resist; without it there is more to mend first. */
function missingGroup({ accepted = [], groups = [], survey }: KnownFacts): Weakness[] {
  const modern = survey === 'complete' && accepted.some(({ version }) => version === 'TLSv1.3');
  if (!modern || groups.length === 0 || groups.some((name) => groupNamed(name)?.kind === 'hybrid')) return [];
  return [found('tls-no-post-quantum', { detected: 'none', evidence: `groups: ${listed(groups)}` })];
}

const flawChecks: readonly (readonly [flaw: SuiteFlaw, id: CheckId])[] = [
  ['null', 'tls-null'],
  ['anonymous', 'tls-anonymous'],
  ['export', 'tls-export'],
  ['rc4', 'tls-rc4'],
  ['des', 'tls-des'],
  ['3des', 'tls-3des'],
  ['cbc', 'tls-cbc'],
];

/** What makes a suite worth a word when the client may choose it. */
const badFlaws: readonly SuiteFlaw[] = ['null', 'anonymous', 'export', 'rc4', 'des', '3des'];

function suiteWeaknesses(accepted: readonly TlsVersionSupport[]): Weakness[] {
  const weaknesses = flawChecks.flatMap(([flaw, id]) => {
    const names = suitesWith(accepted, (name) => suiteFlaws(name).includes(flaw));
    if (names.length === 0) return [];
    const proof = proofOf(accepted, names);
    return [
      found(id, flaw === 'export' ? { ...proof, evidence: `${attacks(names)}${proof.evidence}` } : proof),
    ];
  });
  const old = accepted.filter(({ version }) => version === 'SSLv3' || version === 'TLSv1.0');
  const oldCbc = suitesWith(old, (name) => suiteFlaws(name).includes('cbc'));
  if (oldCbc.length > 0) weaknesses.push(found('tls-beast', proofOf(old, oldCbc)));
  const ssl3 = accepted.filter(({ version }) => version === 'SSLv3');
  const ssl3Cbc = suitesWith(ssl3, (name) => suiteFlaws(name).includes('cbc'));
  if (ssl3Cbc.length > 0) weaknesses.push(found('tls-poodle', proofOf(ssl3, ssl3Cbc)));
  const open = accepted.filter(({ order }) => order === 'client');
  const bad = suitesWith(open, (name) => suiteFlaws(name).some((flaw) => badFlaws.includes(flaw)));
  if (bad.length > 0) weaknesses.push(found('tls-client-cipher-order', proofOf(open, bad)));
  return weaknesses;
}

/** Which attacks the exchange of export suites allows. */
function attacks(names: readonly string[]): string {
  const freak = names.some((name) => name.startsWith('TLS_RSA_EXPORT')) ? ['FREAK'] : [];
  const logjam = names.some((name) => name.startsWith('TLS_DHE_')) ? ['Logjam'] : [];
  const both = [...freak, ...logjam].join(' and ');
  return both === '' ? '' : `${both}: `;
}

/** SSL 2.0 has suites of its own, whose names say what they are. */
function suiteFlaws(name: string): SuiteFlaw[] {
  const suite = suiteNamed(name);
  if (suite) return flawsOf(suite);
  if (!name.startsWith('SSL2_')) return [];
  if (name.includes('EXPORT')) return ['export'];
  if (name.includes('RC4')) return ['rc4'];
  return name.includes('DES_64') ? ['des'] : ['3des'];
}

function suitesWith(accepted: readonly TlsVersionSupport[], matches: (name: string) => boolean): string[] {
  return [...new Set(accepted.flatMap(({ suites }) => suites.filter(matches)))];
}

function proofOf(accepted: readonly TlsVersionSupport[], names: readonly string[]): Proof {
  const versions = accepted.filter(({ suites }) => suites.some((name) => names.includes(name)));
  const text = versions.map(({ version }) => version).join(', ');
  return { detected: listed(names), evidence: `${text}: ${listed(names)}` };
}

/** One handshake in which the server took no such exchange tells that it prefers none. */
function secrecyWeaknesses(accepted: readonly TlsVersionSupport[], surveyed: boolean): Weakness[] {
  const lacking = suitesWith(accepted, (name) => {
    const suite = suiteNamed(name);
    return suite !== null && !hasForwardSecrecy(suite);
  });
  if (lacking.length === 0) return [];
  const having = suitesWith(accepted, (name) => {
    const suite = suiteNamed(name);
    return suite !== null && hasForwardSecrecy(suite);
  });
  const id = having.length === 0 && surveyed ? 'tls-no-forward-secrecy' : 'tls-static-key-exchange';
  return [found(id, proofOf(accepted, lacking))];
}

function keyWeaknesses(facts: KnownFacts, demands: TlsRequirements): Weakness[] {
  const certificates = [facts.certificate ?? null, ...(facts.other_certificates ?? [])].filter(isReadable);
  const weaknesses = [
    ...certificates.flatMap((certificate) => [
      ...weakKey(certificate, demands),
      ...weakSignature(certificate),
    ]),
    ...weakSignatureAbove(facts),
    ...weakKeysAbove(facts, demands),
  ];
  return [...oncePerCheck(weaknesses), ...exchangeWeaknesses(facts)];
}

function isReadable(
  certificate: CertificateFacts | CertificateRejection | null,
): certificate is CertificateFacts {
  return certificate !== null && !('error' in certificate);
}

function oncePerCheck(weaknesses: readonly Weakness[]): Weakness[] {
  return weaknesses.filter(({ id }, at) => weaknesses.findIndex((each) => each.id === id) === at);
}

/** Elliptic keys of 224 bits have the strength of RSA with 2048. */
const shortestCurveBits = 224;

function weakKey(
  { key, subject }: Pick<CertificateFacts, 'key' | 'subject'>,
  { minRsaBits }: TlsRequirements,
): Weakness[] {
  const [, type, size] = /^(RSA|DSA|EC) (\d+)$/.exec(key ?? '') ?? [];
  if (!type || !size) return [];
  const bits = Number(size);
  if (bits >= (type === 'EC' ? shortestCurveBits : minRsaBits)) return [];
  const severity = type !== 'EC' && bits < 1024 ? 'high' : 'medium';
  return [
    found('tls-weak-key', { detected: `${type} ${bits}`, evidence: `${subject}: ${type} ${bits}`, severity }),
  ];
}

function weakKeysAbove({ chain = [] }: KnownFacts, demands: TlsRequirements): Weakness[] {
  return chain.flatMap((each) => ('error' in each ? [] : weakKey(each, demands)));
}

type Signed = Pick<CertificateFacts, 'subject' | 'signature'>;

function weakSignature({ subject, signature }: Signed): Weakness[] {
  if (!signature || !/md[245]|sha-?1(?!\d)/i.test(signature)) return [];
  const severity = /md[245]/i.test(signature) ? 'high' : 'medium';
  return [
    found('tls-weak-signature', { detected: signature, evidence: `${subject}: ${signature}`, severity }),
  ];
}

/** Nobody trusts a root for its signature, so that is not judged. */
function weakSignatureAbove({ chain = [] }: KnownFacts): Weakness[] {
  return chain.flatMap((each) =>
    'error' in each || each.subject === each.issuer ? [] : weakSignature(each),
  );
}

const shortestPrimeBits = 2048;
const brokenPrimeBits = 1024;

function exchangeWeaknesses({ dh_bits, groups, accepted }: KnownFacts): Weakness[] {
  const weaknesses: Weakness[] = [];
  if (typeof dh_bits === 'number' && dh_bits < shortestPrimeBits) {
    const severity = dh_bits < brokenPrimeBits ? 'high' : 'medium';
    const names = suitesWith(accepted ?? [], (name) => /^TLS_(?:DHE|DH_anon)/.test(name));
    const evidence = `prime of ${dh_bits} bits with ${listed(names)}`;
    weaknesses.push(found('tls-weak-dh', { detected: `${dh_bits} bits`, evidence, severity }));
  }
  const short = (groups ?? []).filter((name) => (groupNamed(name)?.bits ?? Infinity) < shortestCurveBits);
  if (short.length > 0) {
    weaknesses.push(
      found('tls-weak-curve', { detected: listed(short), evidence: `groups: ${listed(short)}` }),
    );
  }
  return weaknesses;
}

function handshakeWeaknesses(facts: KnownFacts): Weakness[] {
  const weaknesses: Weakness[] = [];
  const says = (id: CheckId, evidence: string) =>
    weaknesses.push(found(id, { detected: evidence, evidence }));
  if (facts.compression === true) says('tls-compression', 'the server chose compression by DEFLATE');
  if (facts.early_data) {
    says('tls-early-data', `a ticket of TLS 1.3 allows ${facts.early_data} bytes of early data`);
  }
  const certificate = facts.certificate ?? null;
  if (facts.ocsp_stapling === false && isReadable(certificate) && certificate.must_staple) {
    says('tls-must-staple-ignored', 'the handshake requested the status and received none');
  }
  if (facts.secure_renegotiation === false) {
    says('tls-insecure-renegotiation', 'the ServerHello has no renegotiation_info');
  }
  if (facts.client_renegotiation === true) {
    says('tls-client-renegotiation', 'a client-initiated second handshake inside a connection succeeded');
  }
  if (facts.heartbleed_bytes) {
    says('tls-heartbleed', `an empty heartbeat request returned ${facts.heartbleed_bytes} bytes of memory`);
  }
  if (facts.early_cipher_change === true) {
    says(
      'tls-early-cipher-change',
      'a ChangeCipherSpec before the key exchange took effect: the server tried to decrypt the next, plain message',
    );
  }
  if (facts.ticketbleed_bytes) {
    says(
      'tls-ticketbleed',
      `a session ID of 16 bytes came back with ${facts.ticketbleed_bytes} bytes of memory after it`,
    );
  }
  if (facts.padding_reactions?.length) {
    says(
      'tls-robot',
      `reactions to malformed secrets by kind, identical in two rounds: ${facts.padding_reactions.join('; ')}`,
    );
  }
  if (facts.fallback_scsv === false) {
    says('tls-no-fallback-scsv', 'a handshake with TLS_FALLBACK_SCSV in an older version was accepted');
  }
  if (facts.extended_master_secret === false) {
    says('tls-no-extended-master-secret', 'the ServerHello has no extended_master_secret');
  }
  return weaknesses;
}

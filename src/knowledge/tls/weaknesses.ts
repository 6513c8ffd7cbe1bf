import type { TlsVersionSupport } from '../../domain/text/banner.ts';
import type { CertificateFacts, CertificateRejection, TlsFacts } from '../protocols/tls.ts';
import { listed, type Weakness } from '../weakness.ts';
import { groupNamed } from './groups.ts';
import { flawsOf, hasForwardSecrecy, type SuiteFlaw, suiteNamed } from './suites.ts';
import { type CheckId, weaknessTexts } from './weakness-texts.ts';

export interface TlsRequirements {
  /** Oldest acceptable version: `1.0` to `1.3`. */
  minTls: string;
  minRsaBits: number;
}

/** Confidence by source of the facts: an enumeration shows more than one handshake. */
const enumerationConfidence = 1;

const handshakeConfidence = 0.95;

/** Facts may be partial if recorded before an interruption. */
type KnownFacts = Partial<TlsFacts>;

/** Every weakness that the facts of a TLS server show; a single handshake shows less than an enumeration. */
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
    confidence: facts.accepted === undefined ? handshakeConfidence : enumerationConfidence,
  }));
}

function negotiated({ version = 'unknown', cipher = 'unknown' }: KnownFacts): TlsVersionSupport {
  return { version, suites: [cipher], order: null };
}

type Evidence = Pick<Weakness, 'detected' | 'evidence'> & Partial<Pick<Weakness, 'severity'>>;

function found(id: CheckId, evidence: Evidence): Weakness {
  return { id, confidence: 1, ...weaknessTexts[id], ...evidence };
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

/** Only a complete enumeration shows that something is missing. */
function missingVersion({ accepted, survey }: KnownFacts): Weakness[] {
  if (survey !== 'complete' || !accepted || accepted.some(({ version }) => version === 'TLSv1.3')) return [];
  const newest = accepted.at(-1)?.version;
  return newest
    ? [found('tls-no-v1-3', { detected: newest, evidence: `the newest version is ${newest}` })]
    : [];
}

/** Only TLS 1.3 has post-quantum groups; without it other weaknesses come first. */
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

/** Flaws that matter if the server follows the client's cipher order. */
const badFlaws: readonly SuiteFlaw[] = ['null', 'anonymous', 'export', 'rc4', 'des', '3des'];

function suiteWeaknesses(accepted: readonly TlsVersionSupport[]): Weakness[] {
  const weaknesses = flawChecks.flatMap(([flaw, id]) => {
    const names = suitesWith(accepted, (name) => suiteFlaws(name).includes(flaw));
    if (names.length === 0) return [];
    const evidence = evidenceOf(accepted, names);
    return [
      found(
        id,
        flaw === 'export' ? { ...evidence, evidence: `${attacks(names)}${evidence.evidence}` } : evidence,
      ),
    ];
  });
  const old = accepted.filter(({ version }) => version === 'SSLv3' || version === 'TLSv1.0');
  const oldCbc = suitesWith(old, (name) => suiteFlaws(name).includes('cbc'));
  if (oldCbc.length > 0) weaknesses.push(found('tls-beast', evidenceOf(old, oldCbc)));
  const ssl3 = accepted.filter(({ version }) => version === 'SSLv3');
  const ssl3Cbc = suitesWith(ssl3, (name) => suiteFlaws(name).includes('cbc'));
  if (ssl3Cbc.length > 0) weaknesses.push(found('tls-poodle', evidenceOf(ssl3, ssl3Cbc)));
  const open = accepted.filter(({ order }) => order === 'client');
  const bad = suitesWith(open, (name) => suiteFlaws(name).some((flaw) => badFlaws.includes(flaw)));
  if (bad.length > 0) weaknesses.push(found('tls-client-cipher-order', evidenceOf(open, bad)));
  return weaknesses;
}

/** Attacks that the key exchange of export suites allows. */
function attacks(names: readonly string[]): string {
  const freak = names.some((name) => name.startsWith('TLS_RSA_EXPORT')) ? ['FREAK'] : [];
  const logjam = names.some((name) => name.startsWith('TLS_DHE_')) ? ['Logjam'] : [];
  const both = [...freak, ...logjam].join(' and ');
  return both === '' ? '' : `${both}: `;
}

/** SSL 2.0 has its own suites, classified by name. */
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

function evidenceOf(accepted: readonly TlsVersionSupport[], names: readonly string[]): Evidence {
  const versions = accepted.filter(({ suites }) => suites.some((name) => names.includes(name)));
  const text = versions.map(({ version }) => version).join(', ');
  return { detected: listed(names), evidence: `${text}: ${listed(names)}` };
}

/** One handshake without forward secrecy shows that the server prefers suites without it. */
function secrecyWeaknesses(accepted: readonly TlsVersionSupport[], enumerated: boolean): Weakness[] {
  const lacking = suitesWith(accepted, (name) => {
    const suite = suiteNamed(name);
    return suite !== null && !hasForwardSecrecy(suite);
  });
  if (lacking.length === 0) return [];
  const having = suitesWith(accepted, (name) => {
    const suite = suiteNamed(name);
    return suite !== null && hasForwardSecrecy(suite);
  });
  const id = having.length === 0 && enumerated ? 'tls-no-forward-secrecy' : 'tls-static-key-exchange';
  return [found(id, evidenceOf(accepted, lacking))];
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

/** A 224-bit elliptic curve key is as strong as 2048-bit RSA. */
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

/** Trust in a root does not rest on its signature, so this skips roots. */
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
  const report = (id: CheckId, evidence: string) =>
    weaknesses.push(found(id, { detected: evidence, evidence }));
  if (facts.compression === true) report('tls-compression', 'the server chose compression by DEFLATE');
  if (facts.early_data) {
    report('tls-early-data', `a ticket of TLS 1.3 allows ${facts.early_data} bytes of early data`);
  }
  const certificate = facts.certificate ?? null;
  if (facts.ocsp_stapling === false && isReadable(certificate) && certificate.must_staple) {
    report('tls-must-staple-ignored', 'the handshake requested the status and received none');
  }
  if (facts.secure_renegotiation === false) {
    report('tls-insecure-renegotiation', 'the ServerHello has no renegotiation_info');
  }
  if (facts.client_renegotiation === true) {
    report('tls-client-renegotiation', 'a client-initiated second handshake inside a connection succeeded');
  }
  if (facts.heartbleed_bytes) {
    report('tls-heartbleed', `an empty heartbeat request returned ${facts.heartbleed_bytes} bytes of memory`);
  }
  if (facts.early_cipher_change === true) {
    report(
      'tls-early-cipher-change',
      'a ChangeCipherSpec before the key exchange took effect: the server tried to decrypt the next, plain message',
    );
  }
  if (facts.ticketbleed_bytes) {
    report(
      'tls-ticketbleed',
      `a session ID of 16 bytes came back with ${facts.ticketbleed_bytes} bytes of memory after it`,
    );
  }
  if (facts.padding_reactions?.length) {
    report(
      'tls-robot',
      `reactions to malformed secrets by kind, identical in two rounds: ${facts.padding_reactions.join('; ')}`,
    );
  }
  if (facts.fallback_scsv === false) {
    report('tls-no-fallback-scsv', 'a handshake with TLS_FALLBACK_SCSV in an older version was accepted');
  }
  if (facts.extended_master_secret === false) {
    report('tls-no-extended-master-secret', 'the ServerHello has no extended_master_secret');
  }
  return weaknesses;
}

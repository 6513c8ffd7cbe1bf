import { type TlsVersion, tlsVersions } from './versions.ts';

/** A cipher suite with the properties in its name. */
export interface CipherSuite {
  id: number;
  /** As the IANA registry names it; unregistered ones as their authors do. */
  name: string;
  /** `RSA`, `DHE_RSA`, `ECDHE_ECDSA`, `DH_anon`, ...; `any` in TLS 1.3, where the suite does not say. */
  exchange: string;
  /** `AES_128_GCM`, `RC4_128`, `NULL`, ... */
  encryption: string;
  /** Effective key size, bits; 0 without encryption. */
  bits: number;
  /** `SHA`, `MD5`, `SHA256`, ...; `AEAD` if the cipher authenticates. */
  mac: string;
  /** Oldest and newest version that may use it. */
  since: TlsVersion;
  until: TlsVersion;
}

/** Consecutive identifiers: for each key exchange, each of the ciphers. */
type Family = readonly [first: number, exchanges: string, ciphers: string];

const six = 'RSA DH_DSS DH_RSA DHE_DSS DHE_RSA DH_anon';
const threePsk = 'PSK DHE_PSK RSA_PSK';
const fourEc = 'ECDHE_ECDSA ECDH_ECDSA ECDHE_RSA ECDH_RSA';
const gcmOrder = 'RSA DHE_RSA DH_RSA DHE_DSS DH_DSS DH_anon';
const aesCbc = 'AES_128_CBC_SHA256 AES_256_CBC_SHA384';
const aesGcm = 'AES_128_GCM_SHA256 AES_256_GCM_SHA384';
const ariaCbc = 'ARIA_128_CBC_SHA256 ARIA_256_CBC_SHA384';
const ariaGcm = 'ARIA_128_GCM_SHA256 ARIA_256_GCM_SHA384';
const camelliaCbc = 'CAMELLIA_128_CBC_SHA256 CAMELLIA_256_CBC_SHA384';
const camelliaGcm = 'CAMELLIA_128_GCM_SHA256 CAMELLIA_256_GCM_SHA384';
const desPair = 'DES_CBC_SHA 3DES_EDE_CBC_SHA';

const families: readonly Family[] = [
  [0x0001, 'RSA', 'NULL_MD5 NULL_SHA'],
  [0x0003, 'RSA_EXPORT', 'RC4_40_MD5'],
  [0x0004, 'RSA', 'RC4_128_MD5 RC4_128_SHA'],
  [0x0006, 'RSA_EXPORT', 'RC2_CBC_40_MD5'],
  [0x0007, 'RSA', 'IDEA_CBC_SHA'],
  [0x0008, 'RSA_EXPORT', 'DES40_CBC_SHA'],
  [0x0009, 'RSA', desPair],
  [0x000b, 'DH_DSS_EXPORT', 'DES40_CBC_SHA'],
  [0x000c, 'DH_DSS', desPair],
  [0x000e, 'DH_RSA_EXPORT', 'DES40_CBC_SHA'],
  [0x000f, 'DH_RSA', desPair],
  [0x0011, 'DHE_DSS_EXPORT', 'DES40_CBC_SHA'],
  [0x0012, 'DHE_DSS', desPair],
  [0x0014, 'DHE_RSA_EXPORT', 'DES40_CBC_SHA'],
  [0x0015, 'DHE_RSA', desPair],
  [0x0017, 'DH_anon_EXPORT', 'RC4_40_MD5'],
  [0x0018, 'DH_anon', 'RC4_128_MD5'],
  [0x0019, 'DH_anon_EXPORT', 'DES40_CBC_SHA'],
  [0x001a, 'DH_anon', desPair],
  [0x001e, 'KRB5', 'DES_CBC_SHA 3DES_EDE_CBC_SHA RC4_128_SHA IDEA_CBC_SHA'],
  [0x0022, 'KRB5', 'DES_CBC_MD5 3DES_EDE_CBC_MD5 RC4_128_MD5 IDEA_CBC_MD5'],
  [0x0026, 'KRB5_EXPORT', 'DES_CBC_40_SHA RC2_CBC_40_SHA RC4_40_SHA'],
  [0x0029, 'KRB5_EXPORT', 'DES_CBC_40_MD5 RC2_CBC_40_MD5 RC4_40_MD5'],
  [0x002c, threePsk, 'NULL_SHA'],
  [0x002f, six, 'AES_128_CBC_SHA'],
  [0x0035, six, 'AES_256_CBC_SHA'],
  [0x003b, 'RSA', 'NULL_SHA256 AES_128_CBC_SHA256 AES_256_CBC_SHA256'],
  [0x003e, 'DH_DSS DH_RSA DHE_DSS', 'AES_128_CBC_SHA256'],
  [0x0041, six, 'CAMELLIA_128_CBC_SHA'],
  [0x0060, 'RSA_EXPORT1024', 'RC4_56_MD5 RC2_CBC_56_MD5'],
  [0x0062, 'RSA_EXPORT1024 DHE_DSS_EXPORT1024', 'DES_CBC_SHA'],
  [0x0064, 'RSA_EXPORT1024 DHE_DSS_EXPORT1024', 'RC4_56_SHA'],
  [0x0066, 'DHE_DSS', 'RC4_128_SHA'],
  [0x0067, 'DHE_RSA', 'AES_128_CBC_SHA256'],
  [0x0068, 'DH_DSS DH_RSA DHE_DSS DHE_RSA', 'AES_256_CBC_SHA256'],
  [0x006c, 'DH_anon', 'AES_128_CBC_SHA256 AES_256_CBC_SHA256'],
  [0x0080, 'GOSTR341094 GOSTR341001', '28147_CNT_IMIT'],
  [0x0082, 'GOSTR341094 GOSTR341001', 'NULL_GOSTR3411'],
  [0x0084, six, 'CAMELLIA_256_CBC_SHA'],
  [0x008a, threePsk, 'RC4_128_SHA 3DES_EDE_CBC_SHA AES_128_CBC_SHA AES_256_CBC_SHA'],
  [0x0096, six, 'SEED_CBC_SHA'],
  [0x009c, `${gcmOrder} ${threePsk}`, aesGcm],
  [0x00ae, threePsk, `${aesCbc} NULL_SHA256 NULL_SHA384`],
  [0x00ba, six, 'CAMELLIA_128_CBC_SHA256'],
  [0x00c0, six, 'CAMELLIA_256_CBC_SHA256'],
  [0x00c6, 'any', 'SM4_GCM_SM3 SM4_CCM_SM3'],
  [0x1301, 'any', `${aesGcm} CHACHA20_POLY1305_SHA256 AES_128_CCM_SHA256 AES_128_CCM_8_SHA256`],
  [
    0xc001,
    'ECDH_ECDSA ECDHE_ECDSA ECDH_RSA ECDHE_RSA ECDH_anon',
    'NULL_SHA RC4_128_SHA 3DES_EDE_CBC_SHA AES_128_CBC_SHA AES_256_CBC_SHA',
  ],
  [0xc01a, 'SRP_SHA SRP_SHA_RSA SRP_SHA_DSS', '3DES_EDE_CBC_SHA'],
  [0xc01d, 'SRP_SHA SRP_SHA_RSA SRP_SHA_DSS', 'AES_128_CBC_SHA'],
  [0xc020, 'SRP_SHA SRP_SHA_RSA SRP_SHA_DSS', 'AES_256_CBC_SHA'],
  [0xc023, fourEc, aesCbc],
  [0xc02b, fourEc, aesGcm],
  [0xc033, 'ECDHE_PSK', 'RC4_128_SHA 3DES_EDE_CBC_SHA AES_128_CBC_SHA AES_256_CBC_SHA'],
  [0xc037, 'ECDHE_PSK', `${aesCbc} NULL_SHA NULL_SHA256 NULL_SHA384`],
  [0xc03c, `${six} ${fourEc}`, ariaCbc],
  [0xc050, `${gcmOrder} ${fourEc}`, ariaGcm],
  [0xc064, threePsk, ariaCbc],
  [0xc06a, threePsk, ariaGcm],
  [0xc070, 'ECDHE_PSK', ariaCbc],
  [0xc072, fourEc, camelliaCbc],
  [0xc07a, `${gcmOrder} ${fourEc} ${threePsk}`, camelliaGcm],
  [0xc094, `${threePsk} ECDHE_PSK`, camelliaCbc],
  [0xc09c, 'RSA DHE_RSA', 'AES_128_CCM AES_256_CCM'],
  [0xc0a0, 'RSA DHE_RSA', 'AES_128_CCM_8 AES_256_CCM_8'],
  [0xc0a4, 'PSK DHE_PSK', 'AES_128_CCM AES_256_CCM'],
  [0xc0a8, 'PSK PSK_DHE', 'AES_128_CCM_8 AES_256_CCM_8'],
  [0xc0ac, 'ECDHE_ECDSA', 'AES_128_CCM AES_256_CCM AES_128_CCM_8 AES_256_CCM_8'],
  [0xc0b0, 'ECCPWD', `${aesGcm} AES_128_CCM_SHA256 AES_256_CCM_SHA384`],
  // Authentication without encryption in TLS 1.3 (RFC 9150).
  [0xc0b4, 'any', 'SHA256_SHA256 SHA384_SHA384'],
  [0xc100, 'GOSTR341112_256', 'KUZNYECHIK_CTR_OMAC MAGMA_CTR_OMAC 28147_CNT_IMIT'],
  [0xc103, 'GOSTR341112_256', 'KUZNYECHIK_MGM_L MAGMA_MGM_L KUZNYECHIK_MGM_S MAGMA_MGM_S'],
  // Drafts of ChaCha20 that servers of 2014 shipped.
  [0xcc13, 'ECDHE_RSA ECDHE_ECDSA DHE_RSA', 'CHACHA20_POLY1305_SHA256_DRAFT'],
  [0xcca8, 'ECDHE_RSA ECDHE_ECDSA DHE_RSA PSK ECDHE_PSK DHE_PSK RSA_PSK', 'CHACHA20_POLY1305_SHA256'],
  [0xd001, 'ECDHE_PSK', `${aesGcm} AES_128_CCM_8_SHA256`],
  [0xd005, 'ECDHE_PSK', 'AES_128_CCM_SHA256'],
  [0xfefe, 'RSA_FIPS', desPair],
];

/** Key bits by the name of the encryption, if the name does not contain them; 3DES has a strength of 112 bits. */
const namedBits: readonly (readonly [pattern: RegExp, bits: number])[] = [
  [/^(?:NULL|SHA\d+)/, 0],
  [/^(?:DES40|DES_CBC_40|RC2_CBC_40|RC4_40)/, 40],
  [/^(?:DES_CBC|RC4_56|RC2_CBC_56)/, 56],
  [/^3DES/, 112],
  [/^(?:IDEA|SEED|SM4|RC4_128)/, 128],
  [/^(?:CHACHA20|28147|KUZNYECHIK|MAGMA)/, 256],
];

function keyBits(cipher: string): number {
  const written = /_(128|256)_/.exec(`${cipher}_`)?.[1];
  return namedBits.find(([pattern]) => pattern.test(cipher))?.[1] ?? Number(written ?? 0);
}

/** `AES_128_CBC_SHA256` → AES_128_CBC with SHA256; AEAD ciphers use the hash only to derive keys. */
function split(cipher: string): { encryption: string; mac: string } {
  if (/^SHA\d+_/.test(cipher)) return { encryption: 'NULL', mac: cipher.split('_')[0] as string };
  if (/GCM|CCM|POLY1305|MGM/.test(cipher)) {
    return { encryption: cipher.replace(/_(?:SHA\d+|SM3)(?:_DRAFT)?$|_[LS]$/, ''), mac: 'AEAD' };
  }
  const at = cipher.lastIndexOf('_');
  return { encryption: cipher.slice(0, at), mac: cipher.slice(at + 1) };
}

function span(id: number, exchange: string, mac: string): { since: TlsVersion; until: TlsVersion } {
  if (exchange === 'any' || (id >= 0xc103 && id <= 0xc106)) return { since: 'TLSv1.3', until: 'TLSv1.3' };
  const modern = mac === 'AEAD' || mac === 'SHA256' || mac === 'SHA384' || (id >= 0xc100 && id <= 0xc102);
  return { since: modern ? 'TLSv1.2' : 'SSLv3', until: 'TLSv1.2' };
}

function suiteOf(id: number, exchange: string, cipher: string): CipherSuite {
  const { encryption, mac } = split(cipher);
  const name = exchange === 'any' ? `TLS_${cipher}` : `TLS_${exchange}_WITH_${cipher}`;
  return { id, name, exchange, encryption, bits: keyBits(cipher), mac, ...span(id, exchange, mac) };
}

function expand([first, exchanges, ciphers]: Family): CipherSuite[] {
  const pairs = exchanges
    .split(' ')
    .flatMap((exchange) => ciphers.split(' ').map((cipher) => [exchange, cipher] as const));
  return pairs.map(([exchange, cipher], offset) => suiteOf(first + offset, exchange, cipher));
}

let byId: ReadonlyMap<number, CipherSuite> | null = null;
let byName: ReadonlyMap<string, CipherSuite> | null = null;

/** Known suites of SSL 3.0 to TLS 1.3, by identifier. Made when first asked for: most commands meet no TLS. */
export function cipherSuites(): ReadonlyMap<number, CipherSuite> {
  byId ??= new Map(families.flatMap(expand).map((suite) => [suite.id, suite]));
  return byId;
}

export function suiteNamed(name: string): CipherSuite | null {
  byName ??= new Map([...cipherSuites().values()].map((suite) => [suite.name, suite]));
  return byName.get(name) ?? null;
}

/** `0x1337` for an unknown suite. */
export function suiteName(id: number): string {
  return cipherSuites().get(id)?.name ?? `0x${id.toString(16).padStart(4, '0')}`;
}

/** Key exchange keys are ephemeral, so a stolen server key does not decrypt recorded connections. */
export function hasForwardSecrecy({ exchange }: CipherSuite): boolean {
  return exchange === 'any' || /^(?:DHE|ECDHE|PSK_DHE|DH_anon|ECDH_anon|SRP|ECCPWD)/.test(exchange);
}

export type SuiteFlaw = 'null' | 'anonymous' | 'export' | 'rc4' | 'des' | '3des' | 'cbc';

/** Ciphers with 64-bit blocks but sufficient key length. */
const smallBlocks = /^(?:3DES|IDEA|28147|MAGMA)/;

/** Every flaw of a suite; a broken cipher is not also reported for small blocks. */
export function flawsOf(suite: CipherSuite): SuiteFlaw[] {
  const { exchange, encryption, bits } = suite;
  const flaws: SuiteFlaw[] = [];
  if (bits === 0) flaws.push('null');
  if (exchange.includes('_anon')) flaws.push('anonymous');
  if (exchange.includes('EXPORT')) flaws.push('export');
  if (encryption.startsWith('RC4')) flaws.push('rc4');
  else if (bits > 0 && bits < 112 && !exchange.includes('EXPORT')) flaws.push('des');
  else if (smallBlocks.test(encryption)) flaws.push('3des');
  if (encryption.includes('CBC')) flaws.push('cbc');
  return flaws;
}

/** Rarity of a suite: the client offers common ones first, so that most servers accept the first list. */
function rarity({ exchange, encryption }: CipherSuite): number {
  const odd = /PSK|SRP|KRB5|GOST|ECCPWD|FIPS|EXPORT1024|DH_DSS|^DH_RSA|^ECDH_(?:RSA|ECDSA)/.test(exchange);
  return (odd ? 2 : 0) + (/ARIA|CAMELLIA|SEED|IDEA|CCM|NULL/.test(encryption) ? 1 : 0);
}

const order: readonly TlsVersion[] = tlsVersions;

/** The suites that a version may use, common and strong ones first. */
export function suitesFor(version: TlsVersion): CipherSuite[] {
  const at = order.indexOf(version);
  return [...cipherSuites().values()]
    .filter(({ since, until }) => order.indexOf(since) <= at && at <= order.indexOf(until))
    .sort((a, b) => rarity(a) - rarity(b) || b.bits - a.bits || a.id - b.id);
}

import type { Severity } from '../../domain/finding.ts';
import type { SshFacts } from '../protocols/ssh.ts';
import { type CheckText, listed, type Weakness } from '../weakness.ts';

export const sshTexts = {
  'ssh-protocol-1': {
    title: 'SSH version 1 is accepted',
    severity: 'high',
    action: 'Turn off SSH version 1',
    remediation: 'Turn SSH version 1 off: a man in the middle can change the traffic.',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2001-0361'],
  },
  'ssh-weak-kex': {
    title: 'Weak SSH key exchanges are offered',
    severity: 'low',
    action: 'Remove weak key exchanges from SSH',
    remediation:
      'Offer curve25519-sha256, the post-quantum exchanges and groups of 2048 bits with SHA-2 only (KexAlgorithms).',
    references: ['https://www.rfc-editor.org/rfc/rfc9142'],
  },
  'ssh-weak-host-key': {
    title: 'Weak SSH host key algorithms are offered',
    severity: 'low',
    action: 'Remove weak host key algorithms from SSH',
    remediation: 'Offer ssh-ed25519, ECDSA and RSA with SHA-2 only (HostKeyAlgorithms).',
    references: ['https://www.rfc-editor.org/rfc/rfc8332'],
  },
  'ssh-short-host-key': {
    title: 'The SSH host key is short',
    severity: 'medium',
    action: 'Replace short SSH host keys',
    remediation:
      'Generate a new host key (ssh-keygen -t ed25519, or -t rsa -b 3072), announce it to the clients, and remove the short one (HostKey).',
    references: ['https://www.rfc-editor.org/rfc/rfc8270', 'https://doi.org/10.6028/NIST.SP.800-131Ar2'],
  },
  'ssh-short-group': {
    title: 'SSH group exchange uses a short prime',
    severity: 'medium',
    action: 'Remove short primes from SSH group exchange',
    remediation:
      'Remove primes below 2048 bits, better below 3072, from the moduli file of the server (/etc/ssh/moduli), or offer no group exchange (KexAlgorithms).',
    references: ['https://www.rfc-editor.org/rfc/rfc8270', 'https://nvd.nist.gov/vuln/detail/CVE-2015-4000'],
  },
  'ssh-no-post-quantum': {
    title: 'No quantum-resistant SSH key exchange is offered',
    severity: 'info',
    action: 'Turn on quantum-resistant key exchange in SSH',
    remediation:
      'Update to a server with mlkem768x25519-sha256 or sntrup761x25519-sha512 (OpenSSH 9.0, better 9.9), and keep them in KexAlgorithms: traffic recorded today can be decrypted later.',
    references: ['https://www.openssh.com/pq.html'],
  },
  'ssh-weak-cipher': {
    title: 'Weak SSH ciphers are offered',
    severity: 'low',
    action: 'Remove weak ciphers from SSH',
    remediation: 'Offer AES-GCM, AES-CTR and ChaCha20-Poly1305 only (Ciphers).',
    references: ['https://www.rfc-editor.org/rfc/rfc8758', 'https://nvd.nist.gov/vuln/detail/CVE-2008-5161'],
  },
  'ssh-weak-mac': {
    title: 'Weak SSH message authentication is offered',
    severity: 'low',
    action: 'Remove weak MAC algorithms from SSH',
    remediation: 'Offer hmac-sha2-256 and hmac-sha2-512 only, their -etm forms first (MACs).',
    references: ['https://www.rfc-editor.org/rfc/rfc6668'],
  },
  'ssh-terrapin': {
    title: 'The SSH handshake can be truncated unnoticed (Terrapin)',
    severity: 'medium',
    action: 'Turn on strict key exchange in SSH',
    remediation:
      'Update to a server with strict key exchange (OpenSSH 9.6), or turn chacha20-poly1305@openssh.com and CBC with -etm off.',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2023-48795', 'https://terrapin-attack.com/'],
  },
} as const satisfies Record<string, CheckText>;

type CheckId = keyof typeof sshTexts;

/** Patterns of weak algorithm names, worst first. */
type Grade = readonly [pattern: RegExp, severity: Severity];

/** NIST P-192, and K-163 and B-163 by their OID (RFC 5656, 10.1): at most 96 bits of strength. */
const weakCurves =
  /^ecdh-sha2-(?:nistp192|nistk163|nistb163|1\.2\.840\.10045\.3\.1\.1|1\.3\.132\.0\.(?:1|15))$/;

const kexGrades: readonly Grade[] = [
  [/^(?:diffie-hellman-group1-|rsa1024-|gss-group1-)/, 'medium'],
  [weakCurves, 'medium'],
  [/-sha1(?:-|@|$)/, 'low'],
];

const hostKeyGrades: readonly Grade[] = [
  [/^(?:ssh-dss|x509v3-sign-dss)/, 'medium'],
  [/^(?:ssh-rsa|x509v3-sign-rsa(?:-sha1)?$|x509v3-ssh-rsa)/, 'low'],
];

const cipherGrades: readonly Grade[] = [
  [/^none$/, 'high'],
  [/^des-/, 'high'],
  [/^(?:arcfour|3des|blowfish|cast128|idea)/, 'medium'],
  [/-cbc(?:@|$)/, 'low'],
];

const macGrades: readonly Grade[] = [
  [/^none$/, 'high'],
  [/md5|-96(?:-|@|$)/, 'medium'],
  [/^(?:hmac-sha1|umac-64|hmac-ripemd)/, 'low'],
];

/** The marker that announces strict key exchange. */
const strictMarker = 'kex-strict-s-v00@openssh.com';

/** Every weakness that the identification line and the algorithm lists of an SSH server show. */
export function sshWeaknesses(facts: Partial<SshFacts>): Weakness[] {
  return [
    ...oldProtocol(facts),
    ...graded('ssh-weak-kex', 'key exchange', facts.kex_algorithms, kexGrades),
    ...graded('ssh-weak-host-key', 'host key', facts.host_key_types, hostKeyGrades),
    ...shortKey(facts),
    ...shortGroup(facts),
    ...postQuantum(facts),
    ...graded('ssh-weak-cipher', 'cipher', facts.ciphers, cipherGrades),
    ...graded('ssh-weak-mac', 'MAC', facts.macs, macGrades),
    ...terrapin(facts),
  ];
}

function found(
  id: CheckId,
  evidence: Pick<Weakness, 'detected' | 'evidence'> & { severity?: Severity },
): Weakness {
  return { id, confidence: 1, ...sshTexts[id], ...evidence };
}

/** 1.99 means both versions (RFC 4253, 5.1). */
function oldProtocol({ version, software }: Partial<SshFacts>): Weakness[] {
  if (!version?.startsWith('1.')) return [];
  return [found('ssh-protocol-1', { detected: version, evidence: `SSH-${version}-${software}` })];
}

const leastBits = 2048;
/** Keys and primes below this size can be broken with academic resources, bits. */
const brokenBits = 1024;

function shortKey({ host_keys = [], rsa_host_key }: Partial<SshFacts>): Weakness[] {
  const keys = [...host_keys, ...(rsa_host_key ? [rsa_host_key] : [])];
  const short = keys.filter(({ bits }) => bits !== undefined && bits < leastBits);
  const shortest = short.sort((a, b) => (a.bits ?? 0) - (b.bits ?? 0))[0];
  if (!shortest) return [];
  const detected = `${shortest.type} ${shortest.bits}`;
  const evidence = `host key ${detected}, SHA256:${shortest.sha256}`;
  return [
    found('ssh-short-host-key', {
      detected,
      evidence,
      severity: (shortest.bits ?? 0) < brokenBits ? 'high' : 'medium',
    }),
  ];
}

function shortGroup({ shortest_group: bits }: Partial<SshFacts>): Weakness[] {
  if (bits === undefined || bits >= leastBits) return [];
  const evidence = `requested the shortest prime the server accepts and received one of ${bits} bits`;
  const severity = bits < brokenBits ? 'high' : 'medium';
  return [found('ssh-short-group', { detected: `${bits} bits`, evidence, severity })];
}

/** Hybrids of a classical and a post-quantum key exchange. */
const postQuantumExchange = /mlkem|sntrup|ntruprime|kyber/i;

function postQuantum({ kex_algorithms: offered }: Partial<SshFacts>): Weakness[] {
  const exchanges = (offered ?? []).filter((name) => !/^(?:kex-strict-|ext-info-)/.test(name));
  if (exchanges.length === 0 || exchanges.some((name) => postQuantumExchange.test(name))) return [];
  const evidence = `offered key exchange: ${listed(exchanges)}`;
  return [found('ssh-no-post-quantum', { detected: 'none', evidence })];
}

function graded(
  id: CheckId,
  what: string,
  names: readonly string[] | undefined,
  grades: readonly Grade[],
): Weakness[] {
  const weak = (names ?? []).filter((name) => grades.some(([pattern]) => pattern.test(name)));
  if (weak.length === 0) return [];
  const [, severity] = grades.find(([pattern]) => weak.some((name) => pattern.test(name))) as Grade;
  return [found(id, { detected: listed(weak), evidence: `offered ${what}: ${listed(weak)}`, severity })];
}

/** The attack needs one of these ciphers and a server without strict key exchange. */
function terrapin({ kex_algorithms, ciphers = [], macs = [] }: Partial<SshFacts>): Weakness[] {
  if (!kex_algorithms || kex_algorithms.includes(strictMarker)) return [];
  const cbc = ciphers.filter((name) => /-cbc(?:@|$)/.test(name));
  const exposed = [
    ...ciphers.filter((name) => name === 'chacha20-poly1305@openssh.com'),
    ...(macs.some((name) => name.endsWith('-etm@openssh.com')) ? cbc : []),
  ];
  if (exposed.length === 0) return [];
  const evidence = `no ${strictMarker} among the key exchanges, and ${listed(exposed)} among the ciphers`;
  return [found('ssh-terrapin', { detected: listed(exposed), evidence })];
}

import type { Severity } from '../domain/finding.ts';
import type { SshFacts } from './protocols/ssh.ts';
import { type CheckText, listed, type Weakness } from './weakness.ts';

const texts = {
  'ssh-protocol-1': {
    title: 'SSH version 1 is spoken',
    severity: 'high',
    remediation: 'Turn SSH version 1 off: whoever is between both ends can change what is sent.',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2001-0361'],
  },
  'ssh-weak-kex': {
    title: 'Weak SSH key exchange',
    severity: 'low',
    remediation:
      'Offer curve25519-sha256, the post-quantum exchanges and groups of 2048 bits with SHA-2 only (KexAlgorithms).',
    references: ['https://www.rfc-editor.org/rfc/rfc9142'],
  },
  'ssh-weak-host-key': {
    title: 'Weak SSH host key algorithm',
    severity: 'low',
    remediation: 'Offer ssh-ed25519, ECDSA and RSA with SHA-2 only (HostKeyAlgorithms).',
    references: ['https://www.rfc-editor.org/rfc/rfc8332'],
  },
  'ssh-weak-cipher': {
    title: 'Weak SSH cipher',
    severity: 'low',
    remediation: 'Offer AES-GCM, AES-CTR and ChaCha20-Poly1305 only (Ciphers).',
    references: ['https://www.rfc-editor.org/rfc/rfc8758', 'https://nvd.nist.gov/vuln/detail/CVE-2008-5161'],
  },
  'ssh-weak-mac': {
    title: 'Weak SSH message authentication',
    severity: 'low',
    remediation: 'Offer hmac-sha2-256 and hmac-sha2-512 only, their -etm forms first (MACs).',
    references: ['https://www.rfc-editor.org/rfc/rfc6668'],
  },
  'ssh-terrapin': {
    title: 'SSH handshake can be shortened unnoticed (Terrapin)',
    severity: 'medium',
    remediation:
      'Update to a server with strict key exchange (OpenSSH 9.6), or turn chacha20-poly1305@openssh.com and CBC with -etm off.',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2023-48795', 'https://terrapin-attack.com/'],
  },
} as const satisfies Record<string, CheckText>;

type CheckId = keyof typeof texts;

/** What makes a name weak, the worst first. */
type Grade = readonly [pattern: RegExp, severity: Severity];

const kexGrades: readonly Grade[] = [
  [/^(?:diffie-hellman-group1-|rsa1024-|gss-group1-)/, 'medium'],
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

/** The marker by which a server says that its handshake is strict. */
const strictMarker = 'kex-strict-s-v00@openssh.com';

/** Every weakness that the identification line and the algorithm lists of an SSH server prove. */
export function sshWeaknesses(facts: Partial<SshFacts>): Weakness[] {
  return [
    ...oldProtocol(facts),
    ...graded('ssh-weak-kex', 'key exchange', facts.kex_algorithms, kexGrades),
    ...graded('ssh-weak-host-key', 'host key', facts.host_key_types, hostKeyGrades),
    ...graded('ssh-weak-cipher', 'cipher', facts.ciphers, cipherGrades),
    ...graded('ssh-weak-mac', 'MAC', facts.macs, macGrades),
    ...terrapin(facts),
  ];
}

function found(
  id: CheckId,
  proof: Pick<Weakness, 'detected' | 'evidence'> & { severity?: Severity },
): Weakness {
  return { id, confidence: 1, ...texts[id], ...proof };
}

/** 1.99 stands for both versions (RFC 4253, 5.1). */
function oldProtocol({ version, software }: Partial<SshFacts>): Weakness[] {
  if (!version?.startsWith('1.')) return [];
  return [found('ssh-protocol-1', { detected: version, evidence: `SSH-${version}-${software}` })];
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

/** The attack needs one of these ciphers, and a server that does not insist on a strict handshake. */
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

export const frameworks = ['cis', 'pci', 'nist'] as const;
export type Framework = (typeof frameworks)[number];

/** Modules whose findings decide about controls. */
export type ControlEvaluator = 'misconfig_checker' | 'weak_cipher_checker' | 'cve_matcher';

/** The part of a control that a network scan can evaluate for a host. */
export interface Control {
  framework: Framework;
  /** Number of the safeguard, the requirement or the control: `3.10`, `4.2.1`, `SC-8`, `SP 800-52r2 3.1`. */
  control: string;
  /** Paraphrased: the standard's wording is copyrighted. */
  title: string;
  /** Findings that fail it. `CVE` = every known flaw from `high` on or known to be exploited. */
  findings: readonly string[];
  /** Services that fail it by being reachable. */
  forbidden?: readonly string[];
  /** Services in its scope: on a host without any of them it is not evaluated. */
  about: 'any' | 'tls' | 'versions' | readonly string[];
  /** Modules that it needs to be evaluated. */
  judges: readonly ControlEvaluator[];
}

/** Controls of one framework, which only the list as a whole names. */
export function controlsOf(
  framework: Framework,
  controls: readonly Omit<Control, 'framework'>[],
): readonly Control[] {
  return controls.map((control) => ({ framework, ...control }));
}

/** A requirement that no network scan can evaluate. */
export interface UnseenControl {
  framework: Framework;
  control: string;
  title: string;
  reason: string;
}

/** Services that give unauthenticated clients data or control when they require no login. */
export const guardedServices: readonly string[] = [
  'redis',
  'memcached',
  'mongodb',
  'elasticsearch',
  'etcd',
  'docker',
  'kubernetes',
  'kubelet',
  'rsync',
  'nfs',
  'rpcbind',
  'vnc',
  'x11',
  'ftp',
];

/** Data or control without a login. */
export const unguarded: readonly string[] = [
  'redis-no-auth',
  'memcached-no-auth',
  'mongodb-no-auth',
  'elasticsearch-no-auth',
  'etcd-no-auth',
  'docker-api-no-auth',
  'kubelet-anonymous',
  'rsync-modules-listed',
  'ftp-anonymous',
  'vnc-no-auth',
  'x11-open',
];

/** Names and passwords in clear text. */
export const clearText: readonly string[] = [
  'telnet-cleartext',
  'ftp-cleartext',
  'http-basic-auth-cleartext',
];

/** Services that send everything, names and passwords too, in clear text. */
export const clearTextServices: readonly string[] = ['telnet', 'rlogin', 'rsh', 'rexec'];

/** Services that show whether what they carry is encrypted. */
export const encryptable: readonly string[] = ['tls', 'ssh', 'ftp', 'smb', ...clearTextServices];

/** Legacy services that hardly any network needs today. */
export const needlessServices: readonly string[] = [
  'echo',
  'discard',
  'daytime',
  'chargen',
  'qotd',
  'finger',
  'tftp',
];

export const oldTls: readonly string[] = ['tls-sslv2', 'tls-sslv3', 'tls-v1-0', 'tls-v1-1'];

export const weakSuites: readonly string[] = [
  'tls-null',
  'tls-anonymous',
  'tls-export',
  'tls-rc4',
  'tls-des',
  'tls-3des',
];

/** TLS flaws confirmed by active probes, which run only where the scan allows them. */
export const confirmedFlaws: readonly string[] = [
  'tls-heartbleed',
  'tls-early-cipher-change',
  'tls-ticketbleed',
  'tls-robot',
];

export const weakSsh: readonly string[] = [
  'ssh-protocol-1',
  'ssh-weak-kex',
  'ssh-weak-host-key',
  'ssh-short-host-key',
  'ssh-short-group',
  'ssh-weak-cipher',
  'ssh-weak-mac',
  'ssh-terrapin',
];

export const badCertificates: readonly string[] = [
  'tls-cert-expired',
  'tls-cert-not-yet-valid',
  'tls-cert-self-signed',
  'tls-cert-wrong-name',
];

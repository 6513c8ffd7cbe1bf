import { faviconName } from '../requests/favicon.ts';
import { redirectNames } from '../requests/redirect.ts';
import { backendProbes } from './backend.ts';
import { classicProbes, furtherClassicProbes } from './classic.ts';
import { clusterProbes } from './cluster.ts';
import { controlProbes } from './control-system.ts';
import { databaseProbes } from './database.ts';
import { nfs, rpcbind, rsync, smb, smb1 } from './file-share.ts';
import { openingBytes, serviceOf } from './first-bytes.ts';
import { furtherInfrastructureProbes, infrastructureProbes } from './infrastructure.ts';
import { instrumentProbes } from './instrument.ts';
import { mailProbes } from './mail.ts';
import { mediaProbes } from './media.ts';
import { messageProbes } from './message.ts';
import { furtherNetworkProbes, networkProbes } from './network.ts';
import type { Probe } from './probe.ts';
import { rdp, ssh, sshGroupSize, sshRsaKey, vnc, x11 } from './remote-access.ts';
import {
  dns,
  dockerVersion,
  etcdCount,
  etcdVersion,
  ftp,
  ftpAnonymous,
  generic,
  http,
  imap,
  kubeletPods,
  memcached,
  mongodb,
  mysql,
  pop3,
  postgresql,
  postgresqlOld,
  postgresqlPlain,
  redis,
  smtp,
  smtpHelp,
} from './standard.ts';
import { webProbes } from './web.ts';

/** Ports that print what they receive or do worse: never connect to them. */
export function isUntouchable(port: number): boolean {
  return (port >= 9100 && port <= 9107) || port === 515 || port === 631;
}

/** Ports with implicit TLS. */
export const tlsPorts: ReadonlySet<number> = new Set([
  443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 4443, 5061, 5349, 5671, 5986, 6443, 6514, 6697,
  8443, 8531, 8883, 9443, 10443, 64738,
]);

export const probes: readonly Probe[] = [
  http,
  ssh,
  smtp,
  ftp,
  imap,
  pop3,
  redis,
  memcached,
  mysql,
  postgresql,
  postgresqlPlain,
  dns,
  vnc,
  rsync,
  rdp,
  x11,
  smb,
  rpcbind,
  nfs,
  mongodb,
  ...databaseProbes,
  ...backendProbes,
  ...messageProbes,
  ...networkProbes,
  ...clusterProbes,
  ...mailProbes,
  ...classicProbes,
  ...infrastructureProbes,
  ...controlProbes,
  ...mediaProbes,
  ...instrumentProbes,
  generic,
];

/** Sent once the service is known: each reveals one more fact. */
const furtherProbes: readonly Probe[] = [
  smb1,
  dockerVersion,
  etcdVersion,
  etcdCount,
  kubeletPods,
  ftpAnonymous,
  sshRsaKey,
  sshGroupSize,
  postgresqlOld,
  ...webProbes,
  ...furtherNetworkProbes,
  ...furtherInfrastructureProbes,
  ...furtherClassicProbes,
  smtpHelp,
];

/** Names of probes that reveal only one more fact: their responses do not describe the port. */
export const furtherNames: ReadonlySet<string> = new Set([
  ...furtherProbes.map((probe) => probe.name),
  ...redirectNames,
  faviconName,
]);

/** Conditions that select further probes. */
export interface Circumstances {
  intrusive: boolean;
  thorough: boolean;
  /** The response arrived inside TLS from the first byte. */
  secure: boolean;
}

/** The further probes that follow from a response of a port. */
export function probesAfter(bytes: Buffer, port: number, circumstances: Circumstances): Probe[] {
  const { intrusive, thorough, secure } = circumstances;
  const text = bytes.toString('latin1', 0, openingBytes);
  return furtherProbes.filter(
    ({ after, ...probe }) =>
      after !== undefined &&
      (intrusive || probe.intrusive !== true) &&
      (thorough || probe.thorough !== true) &&
      (secure || after.secure !== true) &&
      (after.ports?.includes(port) ?? true) &&
      after.answer.test(text),
  );
}

const byName = new Map(probes.map((probe) => [probe.name, probe]));

const byPort = new Map(probes.flatMap((probe) => probe.ports.map((port) => [port, probe] as const)));

/** @throws Error for an unknown name */
export function probeNamed(name: string): Probe {
  const probe = byName.get(name);
  if (!probe) throw new Error(`no probe is named ${name}`);
  return probe;
}

/** The probe that continues after the named one; null = none. */
export function nextProbe(name: string): Probe | null {
  const next = byName.get(name)?.next;
  return next ? probeNamed(next) : null;
}

/** The probe of the default service on a port; on other TLS ports HTTP is most likely. */
export function probeForPort(port: number, intrusive: boolean): Probe | null {
  const probe = byPort.get(port);
  if (probe && (intrusive || probe.intrusive !== true)) return probe;
  return tlsPorts.has(port) ? http : null;
}

/** The probes of less common services on a port. */
export function secondProbesForPort(port: number, intrusive: boolean): readonly Probe[] {
  return probes.filter((probe) => probe.alsoPorts?.includes(port) && (intrusive || probe.intrusive !== true));
}

/**
 * Probes of a port that sends nothing, most likely first; `tls` means a handshake. HTTP identifies most,
 * and many other protocols respond to its request with an error that identifies them.
 */
export const silentOrder: readonly (Probe | 'tls')[] = [
  http,
  'tls',
  redis,
  postgresql,
  rdp,
  smb,
  dns,
  ...['mssql', 'mqtt', 'ldap'].map(probeNamed),
  mongodb,
  memcached,
  ...[
    'kafka',
    'oracle-tns',
    'zookeeper',
    'sip',
    'socks5',
    'msrpc',
    'kerberos',
    'java-rmi',
    'zabbix-agent',
  ].map(probeNamed),
  x11,
  rpcbind,
  generic,
];

/** Probes inside TLS of a service that did not respond to HTTP, most likely first. */
export const insideOrder: readonly Probe[] = [
  redis,
  memcached,
  ...['mqtt', 'ldap', 'amqp'].map(probeNamed),
  generic,
];

/** The probe that follows a greeting; on a plain `220` the port decides between mail and file transfer. */
export function probeForGreeting(bytes: Buffer, port: number): Probe | null {
  const service = serviceOf(bytes);
  const known = service === null ? undefined : probes.find((probe) => probe.service === service);
  if (known) return known;
  if (!/^220[- ]/.test(bytes.toString('latin1', 0, 4))) return null;
  return ftp.ports.includes(port) ? ftp : smtp;
}

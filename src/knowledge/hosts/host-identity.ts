import type { HostIdentity } from '../../domain/asset.ts';
import type { HostFact } from './host-facts.ts';

/** Characters of a name (RFC 1035, 2.3.4). */
const nameLengthLimit = 253;

/** Where a server says what it is called, and how the name stands in its text. */
const nameMarks: Readonly<Record<string, RegExp>> = {
  'tls.name': /^(.+)$/,
  'tls.subject': /(?:^|, )CN=([^,=]+)$/,
  'smtp.greeting': /^(\S+)(?= |$)/,
  'ftp.greeting': /^(\S+) FTP server/i,
  'ntlm.names': /^dns_computer: (\S+)$/m,
  'ldap.rootdse': /^dnsHostName: (\S+)$/im,
  'snmp.sysname': /^(\S+)$/,
  'netbios.names': /^computer: (\S+)$/m,
  'mdns.host': /^(\S+)$/m,
  'dns.identity': /^(\S+)$/,
  'mssql.instances': /^ServerName;([^;\s]+);/,
  'xdmcp.host': /^(\S+)$/,
  'l2tp.names': /^host: (\S+)$/m,
  'pptp.names': /^host: (\S+)$/m,
};

/** Where only a name of the host itself can stand; what mail servers and certificates say may be shared. */
const ownNames: ReadonlySet<string> = new Set([
  'ntlm.names',
  'ldap.rootdse',
  'snmp.sysname',
  'netbios.names',
  'mdns.host',
  'mssql.instances',
]);

/** Names that a fresh installation has: hundreds of hosts are called so. */
const commonNames =
  /^(?:localhost|localdomain|debian|ubuntu|raspberrypi|server|host|default|unknown|win-.{11}|desktop-.{7})(?:\.|$)/;

/** The name in a fact that names one host: no wildcard, no address, nothing that is no name at all. Null without one. */
export function hostnameOfFact({ key, text }: HostFact): string | null {
  const found = Object.hasOwn(nameMarks, key) ? nameMarks[key]?.exec(text)?.[1] : undefined;
  const name = found === undefined ? null : nameOfHost(found);
  // A word alone is a name where nothing else can stand.
  return name !== null && (name.includes('.') || ownNames.has(key)) ? name : null;
}

/** A host name in lower case, or null for what is none (RFC 1123, 2.1; underscores occur). */
export function nameOfHost(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length === 0 || name.length > nameLengthLimit) return null;
  const labels = name.split('.');
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return null;
  if (/^\d+$/.test(labels.at(-1) as string) || name === 'localhost' || name.startsWith('localhost.'))
    return null;
  return name;
}

/** The mark in a fact that its host takes along to another address, or null. */
export function identityOfFact(fact: HostFact): HostIdentity | null {
  const { key, text } = fact;
  if (key === 'ssh.host_key') return { kind: 'ssh_host_key', value: text };
  if (key === 'tls.key') return { kind: 'tls_key', value: text };
  const name = ownNames.has(key) ? hostnameOfFact(fact) : null;
  if (name === null || commonNames.test(name)) return null;
  return { kind: 'name', value: name };
}

/** The address of a network card that its maker gave it: not a group's, and not one that was made up locally. */
export function isLocalAddress(mac: string): boolean {
  return /^[0-9a-f][048c](?:[:-][0-9a-f]{2}){5}$/i.test(mac);
}

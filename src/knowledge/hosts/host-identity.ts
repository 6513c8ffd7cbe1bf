import type { HostIdentity } from '../../domain/asset.ts';
import type { HostFact } from './host-facts.ts';

/** Maximum length of a name, characters (RFC 1035, 2.3.4). */
const nameLengthLimit = 253;

/** Fields in which a server states its name, and the pattern that extracts it. */
const nameMarks: Readonly<Record<string, RegExp>> = {
  'tls.name': /^(.+)$/,
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

/** Fields that hold only the host's own name; names in mail greetings and certificates may be shared. */
const ownNames: ReadonlySet<string> = new Set([
  'ntlm.names',
  'ldap.rootdse',
  'snmp.sysname',
  'netbios.names',
  'mdns.host',
  'mssql.instances',
]);

/** Default names of fresh installations, shared by hundreds of hosts. */
const commonNames =
  /^(?:localhost|localdomain|debian|ubuntu|raspberrypi|server|host|default|unknown|win-.{11}|desktop-.{7})(?:\.|$)/;

/** The name in a fact that identifies one host: no wildcard, no IP address, no invalid name. Null without one. */
export function hostnameOfFact({ key, text }: HostFact): string | null {
  const found = Object.hasOwn(nameMarks, key) ? nameMarks[key]?.exec(text)?.[1] : undefined;
  const name = found === undefined ? null : nameOfHost(found);
  // Only these fields may hold a single label.
  return name !== null && (name.includes('.') || ownNames.has(key)) ? name : null;
}

/**
 * Whether a certificate is of a host with these names: it names one of them, or one of their domain. A host without another
 * name is called as its certificate says.
 * @param certified names of the certificate, wildcards among them
 */
export function isOwnCertificate(certified: readonly string[], hostnames: readonly string[]): boolean {
  const names = certified.map((name) => name.toLowerCase().replace(/^\*\./, ''));
  const isNamed = (hostname: string) => {
    const [label = '', ...rest] = hostname.split('.');
    const domain = rest.join('.');
    if (domain === '' || domain === 'local') return names.some((name) => name.split('.', 1)[0] === label);
    return names.some(
      (name) => name === domain || isWithin(name, hostname) || (rest.length > 1 && isWithin(name, domain)),
    );
  };
  return hostnames.length === 0 || hostnames.some(isNamed);
}

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** A host name in lower case, or null for an invalid one (RFC 1123, 2.1; underscores occur). */
export function nameOfHost(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length === 0 || name.length > nameLengthLimit) return null;
  const labels = name.split('.');
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return null;
  if (/^\d+$/.test(labels.at(-1) as string) || name === 'localhost' || name.startsWith('localhost.'))
    return null;
  return name;
}

/** The identity in a fact that stays with the host when its address changes, or null. */
export function identityOfFact(fact: HostFact): HostIdentity | null {
  const { key, text } = fact;
  if (key === 'ssh.host_key') return { kind: 'ssh_host_key', value: text };
  if (key === 'tls.key') return { kind: 'tls_key', value: text };
  const name = ownNames.has(key) ? hostnameOfFact(fact) : null;
  if (name === null || commonNames.test(name)) return null;
  return { kind: 'name', value: name };
}

/** A globally unique MAC address: not multicast, not locally administered. */
export function isLocalAddress(mac: string): boolean {
  return /^[0-9a-f][048c](?:[:-][0-9a-f]{2}){5}$/i.test(mac);
}

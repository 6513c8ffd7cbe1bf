import type { AssetProfile, HostIdentity, ProfilePart } from '../../domain/asset.ts';
import type { Host, Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { HostFact } from './host-facts.ts';
import {
  hostnameOfFact,
  identityOfFact,
  isLocalAddress,
  isOwnCertificate,
  nameOfHost,
} from './host-identity.ts';

/** The role of a service, in the words of a profile. */
const functionByService: Record<string, string> = {
  http: 'web server',
  https: 'web server',
  'http-proxy': 'proxy server',
  socks5: 'proxy server',
  ssh: 'remote access',
  telnet: 'remote access',
  telnets: 'remote access',
  rdp: 'remote access',
  vnc: 'remote access',
  x11: 'remote access',
  smtp: 'mail server',
  smtps: 'mail server',
  imap: 'mail server',
  imaps: 'mail server',
  pop3: 'mail server',
  pop3s: 'mail server',
  dns: 'name server',
  ftp: 'file server',
  ftps: 'file server',
  rsync: 'file server',
  smb: 'file server',
  tftp: 'file server',
  git: 'source code server',
  svn: 'source code server',
  mysql: 'database',
  postgresql: 'database',
  mssql: 'database',
  'oracle-tns': 'database',
  mongodb: 'database',
  redis: 'database',
  memcached: 'database',
  couchdb: 'database',
  elasticsearch: 'database',
  ldap: 'directory server',
  ldaps: 'directory server',
  mqtt: 'message broker',
  mqtts: 'message broker',
  amqp: 'message broker',
  amqps: 'message broker',
  ipp: 'print server',
  sip: 'telephony server',
  sips: 'telephony server',
  xmpp: 'chat server',
  'xmpp-server': 'chat server',
  irc: 'chat server',
  ircs: 'chat server',
  nntp: 'news server',
  docker: 'container host',
  kubernetes: 'container host',
  munin: 'monitoring agent',
  'zabbix-agent': 'monitoring agent',
  bgp: 'router',
};

/** Applications listed per host. */
const applicationLimit = 100;
/** Names listed per host. */
const hostnameLimit = 50;
/** Identities listed per host: keys, addresses, names. */
const identityLimit = 50;

/** The role of a service; undefined for one without a role. */
export function functionOf(service: string): string | undefined {
  return Object.hasOwn(functionByService, service) ? functionByService[service] : undefined;
}

/** The traits that one port reveals. */
interface PortTraits {
  match: string;
  product: string | null;
  version: string | null;
}

/** Ports with equal traits share one object, so that a host with every port open stays small. */
export class TraitTable {
  readonly #known = new Map<string, PortTraits>();

  share({ match, product, version }: Fingerprint): PortTraits {
    const traits = { match, product, version };
    const key = JSON.stringify(traits);
    const known = this.#known.get(key) ?? traits;
    this.#known.set(key, known);
    return known;
  }
}

/** The traits of one host in the compact form that a profile needs; records may come in any order. */
export class HostTraits {
  readonly #host: string;
  readonly #table: TraitTable;
  /** By port number, UDP above 65535; null = open, with no traits. */
  readonly #ports = new Map<number, PortTraits | null>();
  readonly #hostnames = new Set<string>();
  /** Names in certificates, by the port that showed them. */
  readonly #certificates = new Map<string, Set<string>>();
  readonly #identity = new Map<string, HostIdentity>();
  #mac: string | undefined;
  #acceptsAll = false;

  constructor(host: string, table: TraitTable) {
    this.#host = host;
    this.#table = table;
  }

  addHost({ mac, hostname }: Pick<Host, 'mac' | 'hostname'>): void {
    if (mac !== undefined) {
      this.#mac = mac;
      if (isLocalAddress(mac)) this.#addIdentity({ kind: 'mac', value: mac.toLowerCase() });
    }
    const name = hostname === undefined ? null : nameOfHost(hostname);
    if (name !== null) this.#addHostname(name);
  }

  addPort(port: Port): void {
    const place = positionOf(port);
    if (port.state === 'open' && !this.#ports.has(place)) this.#ports.set(place, null);
  }

  /** A later record of the same port replaces the earlier one. */
  addFingerprint(fingerprint: Fingerprint): void {
    this.#ports.set(positionOf(fingerprint), this.#table.share(fingerprint));
  }

  addFact(fact: HostFact): void {
    const name = hostnameOfFact(fact);
    if (fact.key === 'tls.name') this.#addCertified(fact);
    else if (name !== null) this.#addHostname(name);
    const identity = identityOfFact(fact);
    if (identity !== null) this.#addIdentity(identity);
  }

  /** Tarpit: the host accepts every port, so open ports are no evidence of services. */
  acceptsAllPorts(): void {
    this.#acceptsAll = true;
  }

  profile(): ProfilePart {
    const known = [...this.#ports.values()].filter((traits) => traits !== null);
    return {
      host: this.#host,
      hostnames: this.#names(),
      ...(this.#mac === undefined ? {} : { mac: this.#mac }),
      applications: applicationsOf(known),
      functions: functionsOf(known),
      open_ports: this.#ports.size,
      ...(this.#acceptsAll ? { all_ports_open: true } : {}),
      ...(this.#identity.size === 0 ? {} : { identity: [...this.#identity.values()].sort(byKind) }),
    };
  }

  /** What the host is called otherwise comes before what its certificates call it. */
  #names(): string[] {
    const names = [...this.#hostnames].sort();
    const certified = [...this.#certificates.values()]
      .filter((texts) => isOwnCertificate([...texts], names))
      .flatMap((texts) => [...texts].map((text) => hostnameOfFact({ key: 'tls.name', text, source: '' })))
      .filter((name) => name !== null);
    return [...new Set([...names, ...certified.sort()])].slice(0, hostnameLimit);
  }

  #addCertified({ source, text }: HostFact): void {
    const texts = this.#certificates.get(source) ?? new Set();
    if (texts.size === 0 && this.#certificates.size >= hostnameLimit) return;
    if (texts.size < hostnameLimit) this.#certificates.set(source, texts.add(text));
  }

  #addHostname(name: string): void {
    if (this.#hostnames.size < hostnameLimit) this.#hostnames.add(name);
  }

  #addIdentity(identity: HostIdentity): void {
    const key = `${identity.kind} ${identity.value}`;
    if (this.#identity.size < identityLimit) this.#identity.set(key, identity);
  }
}

function byKind(a: HostIdentity, b: HostIdentity): number {
  return a.kind === b.kind ? (a.value < b.value ? -1 : 1) : a.kind < b.kind ? -1 : 1;
}

function positionOf({ port, protocol }: Pick<Port, 'port' | 'protocol'>): number {
  return protocol === 'udp' ? 65_536 + port : port;
}

function functionsOf(known: readonly PortTraits[]): string[] {
  const named = known.map(({ match }) => functionOf(match));
  return [...new Set(named.filter((name) => name !== undefined))].sort();
}

function applicationsOf(known: readonly PortTraits[]): AssetProfile['applications'] {
  const applications = new Map<string, AssetProfile['applications'][number]>();
  for (const { match, product, version } of known) {
    if (product === null) continue;
    const role = functionOf(match) ?? match;
    applications.set(JSON.stringify([product, version, role]), { name: product, version, role });
  }
  return [...applications.values()]
    .sort((a, b) => a.name.localeCompare(b.name) || (a.version ?? '').localeCompare(b.version ?? ''))
    .slice(0, applicationLimit);
}

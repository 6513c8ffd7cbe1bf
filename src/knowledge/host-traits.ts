import type { AssetProfile } from '../domain/asset.ts';
import type { Port } from '../domain/host.ts';
import type { Fingerprint } from '../domain/service.ts';

/** What a service is for, in the words of a profile. */
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

/** Applications listed for one host. */
const applicationLimit = 100;

interface System {
  family: string;
  distribution: string | null;
  version: string | null;
}

interface Hint extends System {
  confidence: number;
}

/** What one port gives away. */
interface PortTraits {
  match: string;
  product: string | null;
  version: string | null;
  hint: Hint | null;
}

/** Equal traits of many ports are one object, so that a host with every port open stays small. */
export class TraitTable {
  readonly #known = new Map<string, PortTraits>();

  share({ match, product, version, os, confidence }: Fingerprint): PortTraits {
    const traits = { match, product, version, hint: os ? { ...os, confidence } : null };
    const key = JSON.stringify(traits);
    const known = this.#known.get(key) ?? traits;
    this.#known.set(key, known);
    return known;
  }
}

/** What is known of one host, as small as a profile needs it; ports and fingerprints may come in any order. */
export class HostTraits {
  readonly #host: string;
  readonly #table: TraitTable;
  /** By port number, UDP above 65535; null = open, and nothing more is known. */
  readonly #ports = new Map<number, PortTraits | null>();

  constructor(host: string, table: TraitTable) {
    this.#host = host;
    this.#table = table;
  }

  addPort(port: Port): void {
    const place = placeOf(port);
    if (port.state === 'open' && !this.#ports.has(place)) this.#ports.set(place, null);
  }

  /** A later record of the same port replaces the earlier one. */
  addFingerprint(fingerprint: Fingerprint): void {
    this.#ports.set(placeOf(fingerprint), this.#table.share(fingerprint));
  }

  profile(): AssetProfile {
    const known = [...this.#ports.values()].filter((traits) => traits !== null);
    const functions = functionsOf(known);
    return {
      host: this.#host,
      hostnames: [],
      device_type: functions.length > 0 ? 'server' : 'unknown',
      os: settleSystem(known.map(({ hint }) => hint).filter((hint) => hint !== null)),
      applications: applicationsOf(known),
      functions,
      open_ports: this.#ports.size,
    };
  }
}

function placeOf({ port, protocol }: Pick<Port, 'port' | 'protocol'>): number {
  return protocol === 'udp' ? 65_536 + port : port;
}

function functionsOf(known: readonly PortTraits[]): string[] {
  const named = known.map(({ match }) => functionByService[match]);
  return [...new Set(named.filter((name) => name !== undefined))].sort();
}

function applicationsOf(known: readonly PortTraits[]): AssetProfile['applications'] {
  const applications = new Map<string, AssetProfile['applications'][number]>();
  for (const { match, product, version } of known) {
    if (product === null) continue;
    const role = functionByService[match] ?? match;
    applications.set(JSON.stringify([product, version, role]), { name: product, version, role });
  }
  return [...applications.values()]
    .sort((a, b) => a.name.localeCompare(b.name) || (a.version ?? '').localeCompare(b.version ?? ''))
    .slice(0, applicationLimit);
}

/** How much a hint counts by what it tells; what the port's product is sure of limits it further. */
const weightOf = ({ distribution, version }: System): number => (version ? 0.9 : distribution ? 0.8 : 0.6);

/**
 * The system that most speaks for: hints add up per family, then per distribution within it, then per version.
 * Containers and proxies make hosts speak with several tongues, so confidence falls by what speaks against it.
 */
function settleSystem(hints: readonly Hint[]): AssetProfile['os'] {
  const family = strongest(hints, (hint) => hint.family);
  if (!family) return null;
  const distribution = strongest(family.hints, (hint) => hint.distribution);
  const version = distribution && strongest(distribution.hints, (hint) => hint.version);
  const confidence = family.confidence * (1 - against(hints, family.hints) / 2);
  return {
    family: family.value,
    distribution: distribution?.value ?? null,
    version: version?.value ?? null,
    confidence: Math.round(confidence * 1000) / 1000,
  };
}

interface Choice {
  value: string;
  confidence: number;
  hints: Hint[];
}

function strongest(hints: readonly Hint[], read: (hint: Hint) => string | null): Choice | null {
  const choices = new Map<string, Choice>();
  for (const hint of hints) {
    const value = read(hint);
    if (value === null) continue;
    const choice = choices.get(value) ?? { value, confidence: 0, hints: [] };
    choice.confidence = 1 - (1 - choice.confidence) * (1 - weightOf(hint) * hint.confidence);
    choice.hints.push(hint);
    choices.set(value, choice);
  }
  let best: Choice | null = null;
  for (const choice of choices.values()) if (!best || choice.confidence > best.confidence) best = choice;
  return best && { ...best, confidence: Math.min(0.99, best.confidence) };
}

/** The share of hints that name another family. */
function against(all: readonly Hint[], agreeing: readonly Hint[]): number {
  return all.length === 0 ? 0 : 1 - agreeing.length / all.length;
}

import { isAlias, isMap, isNode, isPair, isSeq, type YAMLMap } from 'yaml';
import { channelProblem } from '../../domain/channel.ts';
import { PortolanError } from '../../domain/errors.ts';
import { severities } from '../../domain/finding.ts';
import type { PacketRate } from '../../domain/packet-rate.ts';
import { parsePorts, readsAsPorts } from '../../domain/port.ts';
import { type DiscoveryProbe, type DiscoveryProfile, discoveryProfiles } from '../../domain/scan.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { validateOptions } from '../options.ts';
import type { Registry } from '../registry.ts';
import { type Position, SafeYaml } from './safe-yaml.ts';

/** Maximum size of a profile file, bytes. */
export const maxProfileBytes = 64 * 1024;
/** Maximum number of tokens of a profile, about a thousand lines: a server parses it between other requests. */
const maxProfileTokens = 5000;

/** Names of installed profiles and graphs. */
export const installedName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Defaults of a profile for scans. Durations are texts such as `3s`. */
export interface ProfileSettings {
  rate?: PacketRate;
  timeout?: string;
  retries?: number;
  concurrency?: number;
  /** Port grammar text. */
  ports?: string;
  discoverProfile?: DiscoveryProfile;
  discoveryTimeout?: string;
  discoveryRetries?: number;
  /** By module type. */
  discoveryProbes?: Record<string, DiscoveryProbe>;
  fingerprint?: boolean;
  maxProtocols?: number;
  /** Of the module that probes services. */
  probeTimeout?: string;
  vuln?: boolean;
  minSeverity?: string;
  notifications?: string[];
}

export interface Profile {
  name: string;
  description: string;
  /** Name of its graph. */
  dag: string;
  settings: ProfileSettings;
}

/** A problem in a profile: its position and a suggested fix. `field` is a path such as `scanner.rate`. */
export interface ProfileIssue extends Position {
  field: string;
  message: string;
}

export interface LoadedProfile {
  profile: Profile;
  issues: ProfileIssue[];
}

/** Default graph of a profile. */
const usualGraph = 'standard';

type Reading = { value: unknown } | { reason: string };
type Reader = (value: unknown) => Reading;
interface Form {
  [key: string]: Reader | Form;
}

/** The sections of `discovery` for one discovery method each, and their modules. */
const probeModules = { icmp: 'icmp_discovery', arp: 'arp_discovery', tcp_probe: 'tcp_probe_discovery' };

const form: Form = {
  name: readProfileName,
  description: (value) => (typeof value === 'string' ? { value } : { reason: 'must be text' }),
  dag: readName,
  scanner: {
    rate: readRate,
    timeout: readWait,
    retry: whole(0, 10),
    concurrency: whole(1, 10_000),
    ports: { profile: readPorts, custom: readPorts },
  },
  discovery: {
    profile: oneOf(discoveryProfiles),
    timeout: readWait,
    retry: whole(0, 10),
    // They contain options of modules.
    icmp: {},
    arp: {},
    tcp_probe: {},
  },
  fingerprint: { enabled: readSwitch, max_protocols: whole(1, 20), probe_timeout: readWait },
  vulnerability: { enabled: readSwitch, min_severity: oneOf(severities) },
  notifications: { channels: readChannels },
};

/** What passes `form`. */
interface ProfileDocument {
  name?: string;
  description?: string;
  dag?: string;
  scanner?: {
    rate?: PacketRate;
    timeout?: string;
    retry?: number;
    concurrency?: number;
    ports?: { profile?: string; custom?: string };
  };
  discovery?: { profile?: DiscoveryProfile; timeout?: string; retry?: number };
  fingerprint?: { enabled?: boolean; max_protocols?: number; probe_timeout?: string };
  vulnerability?: { enabled?: boolean; min_severity?: string };
  notifications?: { channels?: string[] };
}

/**
 * Parses a profile file (YAML or JSON). Reports every problem as an issue with its position.
 * @param dags names of the installed graphs
 */
export function loadProfile(
  text: string,
  fallbackName: string,
  registry: Registry,
  dags: readonly string[],
): LoadedProfile {
  return new ProfileReader(text, registry).read(fallbackName, dags);
}

class ProfileReader {
  readonly #file: SafeYaml;
  readonly #registry: Registry;
  readonly #issues: ProfileIssue[] = [];
  readonly #probes: Record<string, DiscoveryProbe> = {};

  constructor(text: string, registry: Registry) {
    const needs = `some of ${Object.keys(form).join(', ')}`;
    this.#file = new SafeYaml(text, maxProfileBytes, needs, { maxTokens: maxProfileTokens });
    this.#registry = registry;
  }

  read(fallbackName: string, dags: readonly string[]): LoadedProfile {
    const { root, problems } = this.#file;
    for (const { message, ...place } of problems) this.#issues.push({ field: '', message, ...place });
    const document: ProfileDocument = root ? this.#readMap(root, form, '') : {};
    const { name = fallbackName, description = '', dag = usualGraph } = document;
    if (root && document.name === undefined) this.#checkFileName(root, name);
    if (root && !dags.includes(dag)) {
      const guess = nearest(dag, dags);
      const hint = guess ? `did you mean ${guess}?` : `installed: ${dags.join(', ')}`;
      this.#issue('dag', `no graph ${quote(dag)} is installed; ${hint}`, root.get('dag', true) ?? root);
    }
    return {
      profile: { name, description, dag, settings: settingsOf(document, this.#probes) },
      issues: this.#issues,
    };
  }

  /** @returns the valid values, in the shape of the form */
  #readMap(map: YAMLMap, form: Form, path: string): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    for (const { key, value } of map.items.filter(isPair)) {
      const name = String(isNode(key) ? key.toJSON() : key);
      const field = path === '' ? name : `${path}.${name}`;
      const known = Object.hasOwn(form, name) ? form[name] : undefined;
      if (known === undefined) {
        const guess = nearest(name, Object.keys(form));
        const hint = guess ? `did you mean ${guess}?` : `known: ${Object.keys(form).join(', ')}`;
        this.#issue(field, `unknown key ${quote(name)}; ${hint}`, key);
      } else if (isAlias(value)) this.#issue(field, 'aliases are not supported; write out the value', value);
      else if (isNode(value) && value.toJSON() !== null) {
        found[name] = this.#readValue(value, known, field);
      }
    }
    return found;
  }

  #readValue(value: unknown, known: Reader | Form, field: string): unknown {
    const module = moduleOf(field);
    if (module === undefined && typeof known === 'function') return this.#readLeaf(value, known, field);
    if (!isMap(value)) return this.#issue(field, 'must be a map', value);
    if (module !== undefined) return this.#readProbe(value, module, field);
    return this.#readMap(value, known as Form, field);
  }

  #readLeaf(node: unknown, read: Reader, field: string): unknown {
    if (isSeq(node) && node.items.some(isAlias)) {
      return this.#issue(field, 'aliases are not supported; write out the value', node);
    }
    const reading = read(isNode(node) ? node.toJSON() : node);
    return 'reason' in reading ? this.#issue(field, reading.reason, node) : reading.value;
  }

  #readProbe(map: YAMLMap, module: string, field: string): void {
    const { enabled = true, ...config } = map.toJSON() as Record<string, unknown>;
    const placeOf = (name: string) => map.get(name, true) ?? map;
    if (typeof enabled !== 'boolean') {
      this.#issue(`${field}.enabled`, 'must be true or false', placeOf('enabled'));
      return;
    }
    const definition = this.#registry.get(module);
    if (!definition) {
      if (enabled) this.#issue(field, `this build has no module ${module}`, map);
      return;
    }
    const { problems } = validateOptions(definition.options, config);
    for (const { field: name, reason } of problems) {
      const unknown = !Object.hasOwn(definition.options, name);
      const guess = unknown ? nearest(name, ['enabled', ...Object.keys(definition.options)]) : null;
      const message = `option ${name} of ${module} ${reason}${guess ? `; did you mean ${guess}?` : ''}`;
      this.#issue(`${field}.${name}`, message, placeOf(name));
    }
    const ports = typeof config['ports'] === 'string' ? readPorts(config['ports']) : null;
    if (ports && 'reason' in ports) this.#issue(`${field}.ports`, ports.reason, placeOf('ports'));
    this.#probes[module] = { enabled, config };
  }

  #checkFileName(root: YAMLMap, name: string): void {
    const reading = readProfileName(name);
    if ('reason' in reading)
      this.#issue('name', `the file has no profile name, and its file name ${reading.reason}`, root);
  }

  #issue(field: string, message: string, node: unknown): void {
    this.#issues.push({ field, message, ...this.#file.placeOf(node) });
  }
}

function moduleOf(field: string): string | undefined {
  const name = /^discovery\.(\w+)$/.exec(field)?.[1] ?? '';
  return Object.hasOwn(probeModules, name) ? probeModules[name as keyof typeof probeModules] : undefined;
}

function settingsOf(
  { scanner, discovery, fingerprint, vulnerability, notifications }: ProfileDocument,
  probes: Record<string, DiscoveryProbe>,
): ProfileSettings {
  const settings = {
    rate: scanner?.rate,
    timeout: scanner?.timeout,
    retries: scanner?.retry,
    concurrency: scanner?.concurrency,
    ports: joined(scanner?.ports?.profile, scanner?.ports?.custom),
    discoverProfile: discovery?.profile,
    discoveryTimeout: discovery?.timeout,
    discoveryRetries: discovery?.retry,
    discoveryProbes: Object.keys(probes).length > 0 ? probes : undefined,
    fingerprint: fingerprint?.enabled,
    maxProtocols: fingerprint?.max_protocols,
    probeTimeout: fingerprint?.probe_timeout,
    vuln: vulnerability?.enabled,
    minSeverity: vulnerability?.min_severity,
    notifications: notifications?.channels,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** The ports of both lists. The protocol of an item applies to those after it, and each list starts with TCP. */
function joined(first: string | undefined, second: string | undefined): string | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return /^\s*[TU]:/i.test(second) ? `${first},${second}` : `${first},T:${second}`;
}

function readName(value: unknown): Reading {
  if (typeof value === 'string' && installedName.test(value)) return { value };
  return { reason: 'must be 1 to 64 of a-z, 0-9, _ and -, and start with a letter or digit' };
}

function readProfileName(value: unknown): Reading {
  const reading = readName(value);
  if ('reason' in reading || !readsAsPorts(value as string, portCatalog)) return reading;
  return { reason: 'must not be a port list: -p means ports by it' };
}

function readSwitch(value: unknown): Reading {
  return typeof value === 'boolean' ? { value } : { reason: 'must be true or false' };
}

const wholeRate = whole(1, 10_000_000);

function readRate(value: unknown): Reading {
  if (value === 'auto') return { value };
  const read = wholeRate(value);
  return 'reason' in read ? { reason: `${read.reason}, or auto` } : read;
}

function whole(least: number, most: number): Reader {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? { value }
      : { reason: `must be a whole number from ${least} to ${most}` };
}

function oneOf(words: readonly string[]): Reader {
  return (value) =>
    typeof value === 'string' && words.includes(value)
      ? { value }
      : { reason: `must be one of ${words.join(', ')}` };
}

/** Checks the bounds of module timeouts. */
function readWait(value: unknown): Reading {
  const ms = typeof value === 'string' ? parseDuration(value) : null;
  if (ms !== null && ms >= 10 && ms <= 300_000) return { value };
  return { reason: 'must be a duration from 10ms to 5m, such as 3s' };
}

/** A list in one text, a single port, or a list of both. */
function readPorts(value: unknown): Reading {
  const items = Array.isArray(value) ? value : [value];
  const right = items.every((item) => typeof item === 'string' || Number.isSafeInteger(item));
  if (items.length === 0 || !right) return { reason: 'must be ports such as 22,80,8000-8100 or top-100' };
  const ports = items.join(',');
  try {
    parsePorts(ports, portCatalog);
    return { value: ports };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const fields = error.details['fields'] as { reason: string }[];
    return { reason: fields.map(({ reason }) => reason).join('; ') };
  }
}

function readChannels(value: unknown): Reading {
  const right = (item: unknown) => typeof item === 'string' && channelProblem(item) === null;
  if (Array.isArray(value) && value.length <= 100 && value.every(right)) return { value };
  return { reason: 'must be a list of channels such as slack://security-alerts' };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

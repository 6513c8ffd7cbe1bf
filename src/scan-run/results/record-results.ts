import type { ProfilePart } from '../../domain/asset.ts';
import type { ComplianceControl, ComplianceViolation } from '../../domain/compliance.ts';
import {
  classOf,
  type Finding,
  type HostFinding,
  noFindings,
  type SeverityCounts,
} from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import type { Endpoint, Host, Port, PortCounts, Protocol, RejectedPorts } from '../../domain/host.ts';
import { namedRejections, type PortReason, portReasons, rejectedOf } from '../../domain/port-reasons.ts';
import { jointProducers, type Producer } from '../../domain/producer.ts';
import {
  addCounts,
  type CountsByProtocol,
  countsByProtocol,
  type HostRow,
  isOpen,
  type PortRow,
  type ResultRow,
  respondingPort,
  rowIdentity,
} from '../../domain/result.ts';
import type { ScanCounts, ScanWarning } from '../../domain/scan.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { isStandardKey } from '../../engine/data/data-keys.ts';
import { ExtraRows } from './extra-rows.ts';

/** Maximum number of ports whose row stays in memory for enrichment; older ones are merged by the reader. */
const maxOpenRows = 8192;
/** Delay before an enriched row is written, milliseconds. */
const flushMs = 300;

/** A module that runs rules of several plugins names the one behind a finding. */
type ProducedFinding = HostFinding & { producer?: Producer };

/** Destination of rows: the record of a scan. */
export interface RecordSink {
  append(row: ResultRow): void | Promise<void>;
}

/**
 * Converts published items into rows of the record. A row is written as soon as it exists and again, richer, when
 * more is known; readers merge rows of one identity. What plugins say stands in rows of their own.
 */
export class ResultRecorder {
  readonly counts: ScanCounts = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  readonly severityCounts: SeverityCounts = noFindings();
  readonly #sink: RecordSink;
  readonly #hostnames: ReadonlyMap<string, string[]>;
  /** Hosts with a row, and whether one of them is of builtin modules. */
  readonly #hosts = new Map<string, boolean>();
  readonly #counts = new Map<string, CountsByProtocol>();
  /** Of hosts with a port that is not open and named. */
  readonly #rejected = new Map<string, Record<Protocol, RejectedPorts[]>>();
  /** `host protocol` of hosts that accept (nearly) every port. */
  readonly #tarpits = new Set<string>();
  /** A port has a row of builtin modules and one of plugins, by `openRowKey`. */
  readonly #ports = new Map<string, PortRow>();
  readonly #dirty = new Set<string>();
  readonly #extras: ExtraRows;
  /** Findings of an interrupted run: they are counted already. */
  readonly #restored = new Set<string>();
  /** Whether some module publishes open ports: a port that is only enriched may be one of them. */
  #portsPublished = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #onFailure: (error: unknown) => void;
  #failure: unknown = null;

  /** @param onFailure called once if the sink fails; later results are lost */
  constructor(
    sink: RecordSink,
    hostnames: ReadonlyMap<string, string[]>,
    onFailure: (error: unknown) => void = () => undefined,
    onWarning: (warning: ScanWarning) => void = () => undefined,
  ) {
    this.#sink = sink;
    this.#hostnames = hostnames;
    this.#onFailure = onFailure;
    this.#extras = new ExtraRows(onWarning);
  }

  /** The error of the sink, or null. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Records one published item; a returned promise blocks the producer.
   * @param plugin the plugin that published it
   */
  take(key: string, item: unknown, plugin?: Producer): Promise<void> | undefined {
    try {
      return this.#dispatch(key, item, plugin)?.catch((error: unknown) => this.#broken(error));
    } catch (error) {
      this.#broken(error);
      return undefined;
    }
  }

  /** Restores a row of an interrupted run: it is counted and can be enriched, but is not written again. */
  recall(row: ResultRow): Promise<void> | undefined {
    if (row.type === 'host') this.#restoreHost(row);
    if (row.type === 'vulnerability') {
      this.#restored.add(rowIdentity(row));
      this.#countFinding(row.vulnerability);
    }
    if (row.type === 'extra') this.#extras.recall(row);
    if (row.type !== 'port') return undefined;
    this.#countPort(row);
    // What plugins added stands in the record under their name; here it is known, whoever said it.
    const { producer: _producer, producers: _producers, ...known } = row;
    // A marked port is probed again; its next row clears the mark.
    return this.#keep(known.unidentified_reason ? { ...known, unidentified_reason: null } : known);
  }

  #restoreHost(row: HostRow): void {
    this.#countHost(row.host, !row.producer);
    const counts = countsByProtocol(row);
    if (counts.tcp || counts.udp) this.#counts.set(row.host, counts);
    if (row.port_reasons) this.#rejected.set(row.host, rejectedOf(row.port_reasons));
    if (row.all_ports_open) this.#tarpits.add(`${row.host} ${counts.tcp ? 'tcp' : 'udp'}`);
  }

  writeError(target: string | null, code: string, message: string, node: string | null): void {
    void this.#write({ type: 'error', timestamp: now(), host: null, target, code, message, node });
  }

  /** Writes all pending rows. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const waiting = [...this.#dirty];
    this.#dirty.clear();
    for (const key of waiting) {
      const row = this.#ports.get(key);
      if (row) await this.#write({ ...row, timestamp: now() });
    }
  }

  #dispatch(key: string, item: unknown, plugin: Producer | undefined): Promise<void> | undefined {
    switch (key) {
      case 'discovered_hosts':
        return this.#host(item as Host, plugin);
      case 'port_counts':
        return this.#portCounts(item as PortCounts, plugin);
      case 'open_ports':
        return this.#port(item as Port, plugin);
      case 'banners':
        return this.#banner(item as Banner, plugin);
      case 'parsed_services':
        return this.#parsed(item as ParsedService, plugin);
      case 'service_fingerprints':
        return this.#fingerprint(item as Fingerprint, plugin);
      case 'asset_profiles':
        return this.#profile(item as ProfilePart, plugin);
      case 'vulnerabilities':
        return this.#finding(item as ProducedFinding, plugin);
      case 'compliance_violations':
        return this.#violation(item as ComplianceViolation, plugin);
      case 'compliance_controls':
        return this.#control(item as ComplianceControl, plugin);
      default:
        return isStandardKey(key) ? undefined : this.#extra(key, item, plugin);
    }
  }

  #extra(key: string, item: unknown, plugin: Producer | undefined): Promise<void> | undefined {
    const row = this.#extras.rowOf(key, item, plugin);
    return row === null ? undefined : this.#write(row);
  }

  #host(host: Host, plugin: Producer | undefined): Promise<void> | undefined {
    // Several modules find the same host: write a row only for the first, or for one that adds facts.
    const known = plugin ? this.#hosts.has(host.ip) : this.#hosts.get(host.ip) === true;
    if (known && !host.mac && !host.hostname) return undefined;
    const row = this.#hostRow(host.ip, plugin);
    row.latency_ms = host.latency_ms;
    row.method = host.method;
    if (host.mac) row.mac = host.mac;
    if (host.vendor) row.vendor = host.vendor;
    if (host.hostname) row.hostnames = [...new Set([...(row.hostnames ?? []), host.hostname])];
    return this.#write(row);
  }

  /** A row has the sum over the protocols, and the UDP part if UDP ports were swept. */
  #portCounts(
    { host, protocol, all_ports_open, stack: _stack, rejected, ports, ...own }: PortCounts,
    plugin: Producer | undefined,
  ): Promise<void> | undefined {
    // Those of plugins are not added to the others.
    const before = plugin ? null : (this.#counts.get(host) ?? null);
    const udp = protocol === 'udp' ? own : before?.udp;
    const tcp = protocol === 'tcp' ? own : before?.tcp;
    if (!plugin) this.#counts.set(host, { tcp, udp });
    const row = this.#hostRow(host, plugin);
    row.port_counts = addCounts(tcp, udp);
    if (udp) row.udp_port_counts = udp;
    const named = namedRejections(protocol, own, rejected ?? [], {
      planned: ports,
      ...this.#rowsOf(host, protocol, ports ?? []),
    });
    const reasons = this.#reasonsOf(host, { tcp, udp }, protocol, named);
    if (reasons.length > 0) row.port_reasons = reasons;
    row.all_ports_open = plugin ? all_ports_open : this.#isTarpit(host, protocol, all_ports_open);
    return this.#write(row);
  }

  /** UDP ports do not revoke what TCP ports have shown; who probes the ports of a protocol may. */
  #isTarpit(host: string, protocol: Protocol, shown: boolean): boolean {
    if (shown) this.#tarpits.add(`${host} ${protocol}`);
    else this.#tarpits.delete(`${host} ${protocol}`);
    return this.#tarpits.has(`${host} tcp`) || this.#tarpits.has(`${host} udp`);
  }

  /** Which of some ports have a row, and how many of these are not open. */
  #rowsOf(host: string, protocol: Protocol, ports: readonly number[]) {
    const found = ports.flatMap(
      (port) => this.#ports.get(openRowKey({ type: 'port', host, port, protocol } as PortRow)) ?? [],
    );
    return {
      rows: new Set(found.map(({ port }) => port)),
      silentRows: found.filter(({ state }) => state !== 'open').length,
    };
  }

  #reasonsOf(
    host: string,
    counts: CountsByProtocol,
    protocol: Protocol,
    rejected: RejectedPorts[],
  ): PortReason[] {
    const known = this.#rejected.get(host);
    const all = { tcp: [], udp: [], ...known, [protocol]: rejected };
    if (rejected.length > 0 || known) this.#rejected.set(host, all);
    return (['tcp', 'udp'] as const).flatMap((name) =>
      counts[name] ? portReasons(name, counts[name], all[name]) : [],
    );
  }

  #port(port: Port, plugin: Producer | undefined): Promise<void> | undefined {
    const { host, port: number, protocol, state, reason } = port;
    const row: PortRow = { type: 'port', timestamp: now(), host, port: number, protocol, state, reason };
    if (plugin) row.producer = plugin;
    this.#portsPublished = true;
    this.#showHost(host, plugin);
    this.#countPort(row);
    const known = this.#ports.get(openRowKey(row));
    // A resumed scan probes some ports again: their rows are there, and readers of events have had them.
    if (known?.state === state && known.reason === reason) return this.#keep(known);
    this.#keep(row);
    return this.#write(row);
  }

  #banner(banner: Banner, plugin: Producer | undefined): Promise<void> | undefined {
    // Without a port scanner, the banner shows that the port is open.
    if (!this.#portsPublished) this.#countPort(blankPort(banner));
    return this.#enrich(banner, plugin, (row) => {
      if (banner.unidentified_reason) row.unidentified_reason = banner.unidentified_reason;
      const known = row.banner ?? '';
      // Nothing was sent to it: its silence shows nothing.
      const isLeftAlone = banner.unidentified_reason === 'tarpit' || banner.unidentified_reason === 'fragile';
      if (isLeftAlone && banner.banner === '') return;
      const better = banner.banner !== '' && (known === '' || (banner.tls && !row.tls));
      if (better || row.banner === undefined) {
        row.banner = banner.banner;
        row.banner_b64 = banner.banner_b64 ?? null;
        row.truncated = banner.truncated;
        row.partial = banner.partial;
      }
      if (banner.tls && !row.tls) {
        row.tls = { version: banner.tls.version, cipher: banner.tls.cipher, alpn: banner.tls.alpn };
      }
    });
  }

  #parsed(service: ParsedService, plugin: Producer | undefined): Promise<void> | undefined {
    return this.#enrich(service, plugin, (row) => {
      const { tls, ...others } = service.attributes;
      if (tls && typeof tls === 'object') row.tls = { ...row.tls, ...(tls as Record<string, unknown>) };
      for (const [name, facts] of Object.entries(others)) {
        const known = row.attributes?.[name];
        if (name === 'sites' && Array.isArray(facts)) {
          row.attributes = { ...row.attributes, sites: joinedSites(known, facts) };
          continue;
        }
        const both = isObject(known) && isObject(facts) ? { ...known, ...facts } : facts;
        row.attributes = { ...row.attributes, [name]: both };
      }
    });
  }

  #fingerprint(fingerprint: Fingerprint, plugin: Producer | undefined): Promise<void> | undefined {
    return this.#enrich(fingerprint, plugin, (row) => {
      const { host: _host, port: _port, protocol: _protocol, alternatives, ...claim } = fingerprint;
      const { match, product, vendor, version, cpe, confidence } = fingerprint;
      row.service = { name: match, product, vendor, version, cpe, confidence };
      row.fingerprints = [claim, ...alternatives];
    });
  }

  /** Merges a part of a profile: missing fields leave earlier values unchanged. */
  #profile(
    { host, hostnames, mac, ...part }: ProfilePart,
    plugin: Producer | undefined,
  ): Promise<void> | undefined {
    const { os, os_evidence, device_type, device_evidence, applications, functions, identity } = part;
    const row = this.#hostRow(host, plugin);
    Object.assign(
      row,
      ...Object.entries({
        os,
        os_evidence,
        device_type,
        device_evidence,
        applications,
        functions,
        identity,
      }).map(([name, value]) => (value === undefined ? {} : { [name]: value })),
    );
    if (mac !== undefined) row.mac = mac;
    // Keep the names of an earlier row: a later row of a host replaces whole lists.
    if (hostnames === undefined) delete row.hostnames;
    else if (hostnames.length > 0) row.hostnames = [...new Set([...(row.hostnames ?? []), ...hostnames])];
    return this.#write(row);
  }

  #finding(item: ProducedFinding, plugin: Producer | undefined): Promise<void> | undefined {
    const { host, port, protocol, producer = plugin, ...finding } = item;
    const vulnerability = { ...finding, class: classOf(finding) };
    this.#showHost(host, producer);
    const base = { type: 'vulnerability', timestamp: now() } as const;
    const row = { ...base, host, port, protocol, vulnerability, ...(producer && { producer }) };
    if (!this.#restored.has(rowIdentity(row))) this.#countFinding(vulnerability);
    return this.#write(row);
  }

  #violation(
    { port, ...violation }: ComplianceViolation,
    plugin: Producer | undefined,
  ): Promise<void> | undefined {
    const mark = plugin && { producer: plugin };
    const base = { type: 'compliance', timestamp: now(), status: 'fail', ...mark } as const;
    return this.#write({ ...base, port: port ?? null, ...violation });
  }

  #control(
    { reason, ...control }: ComplianceControl,
    plugin: Producer | undefined,
  ): Promise<void> | undefined {
    const mark = plugin && { producer: plugin };
    const base = { type: 'compliance', timestamp: now(), port: null, severity: null, ...mark } as const;
    return this.#write({ ...base, ...control, description: reason, finding_ids: [] });
  }

  /** Ensures a row for a host that was not discovered before its ports or findings. */
  #showHost(host: string, plugin: Producer | undefined): void {
    if (!this.#hosts.has(host)) void this.#write(this.#hostRow(host, plugin));
  }

  #hostRow(host: string, plugin: Producer | undefined): HostRow {
    this.#countHost(host, !plugin);
    const hostnames = this.#hostnames.get(host);
    const row: HostRow = { type: 'host', timestamp: now(), host, state: 'up' };
    if (hostnames) row.hostnames = hostnames;
    if (plugin) row.producer = plugin;
    return row;
  }

  #enrich(
    endpoint: Endpoint,
    plugin: Producer | undefined,
    change: (row: PortRow) => void,
  ): Promise<void> | undefined {
    this.#showHost(endpoint.host, plugin);
    const blank = blankPort(endpoint);
    // Otherwise the state may be in an earlier row, which readers merge with this one.
    if (!this.#portsPublished) Object.assign(blank, respondingPort(endpoint));
    if (plugin) blank.producer = plugin;
    const key = openRowKey(blank);
    const row = this.#ports.get(key) ?? blank;
    change(row);
    if (plugin) Object.assign(row, jointProducers(row, { producer: plugin }));
    this.#dirty.add(key);
    this.#timer ??= setTimeout(() => void this.flush(), flushMs);
    return this.#keep(row);
  }

  #keep(row: PortRow): Promise<void> | undefined {
    const key = openRowKey(row);
    this.#ports.delete(key);
    this.#ports.set(key, row);
    if (this.#ports.size <= maxOpenRows) return undefined;
    const [oldest, evicted] = this.#ports.entries().next().value as [string, PortRow];
    this.#ports.delete(oldest);
    return this.#dirty.delete(oldest) ? this.#write({ ...evicted, timestamp: now() }) : undefined;
  }

  #countHost(host: string, builtin: boolean): void {
    const known = this.#hosts.get(host);
    if (known === undefined) this.counts.live_hosts++;
    if (known === undefined || (builtin && !known)) this.#hosts.set(host, builtin);
  }

  #countPort(row: PortRow): void {
    const identity = rowIdentity(row);
    const known = [this.#ports.get(identity), this.#ports.get(`${identity}${pluginMark}`)];
    if (isOpen(row) && !known.some((earlier) => earlier && isOpen(earlier))) this.counts.open_ports++;
  }

  #countFinding(finding: Finding): void {
    this.counts.vulnerabilities++;
    this.severityCounts[countsAs(finding)]++;
  }

  #write(row: ResultRow): Promise<void> | undefined {
    try {
      const wait = this.#sink.append(row);
      return wait ? wait.catch((error: unknown) => this.#broken(error)) : undefined;
    } catch (error) {
      this.#broken(error);
      return undefined;
    }
  }

  #broken(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#onFailure(error);
  }
}

/** Ends the keys of rows of plugins. */
const pluginMark = ' plugins';

function openRowKey(row: PortRow): string {
  return row.producer ? `${rowIdentity(row)}${pluginMark}` : rowIdentity(row);
}

/** A row without state and reason. */
function blankPort({ host, port, protocol }: Endpoint): PortRow {
  return { type: 'port', timestamp: now(), host, port, protocol } as PortRow;
}

/** The sites of a port with the facts of several parsers, by name. */
function joinedSites(known: unknown, added: readonly unknown[]): unknown[] {
  const sites = new Map<unknown, Record<string, unknown>>();
  for (const site of [...(Array.isArray(known) ? known : []), ...added])
    if (isObject(site)) sites.set(site['name'], { ...sites.get(site['name']), ...site });
  return [...sites.values()];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function now(): string {
  return new Date().toISOString();
}

import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/schema.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { ceilingOf } from '../../domain/packet-rate.ts';
import { parsePorts } from '../../domain/port.ts';
import type { ScanRequest, ScanWarning } from '../../domain/scan.ts';
import { formatDuration } from '../../domain/time/duration.ts';
import type { Graph } from '../../engine/graph/graph.ts';
import { type GraphLibrary, readValidGraph } from '../../engine/graph/graph-library.ts';
import { localFileIssues } from '../../engine/graph/local-files.ts';
import { type Plan, planGraph } from '../../engine/graph/plan.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { leastConcurrency } from '../../net/adaptive/concurrency.ts';
import type { LoadedPlugin } from '../../plugins/plugin.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { withDiscovery, withProbes } from './discovery-profile.ts';
import { moduleDefaults } from './module-defaults.ts';
import { withAddedPlugins, withPlannedModules } from './plan-plugins.ts';
import { withScanType } from './scan-type.ts';
import { scansOnlyUdp, scansUdp, udpPortsOf, withUdpScanner } from './udp-ports.ts';

/** The installed modules and graphs, for planning. */
export interface ModuleCatalog {
  registry: Registry;
  library: GraphLibrary;
  /** The loaded plugins; their modules are registered. */
  plugins?: readonly LoadedPlugin[];
  /** Rejects modules that require a license; without it none is required. */
  license?: License;
}

/**
 * The graph of a submission, with its settings applied.
 * @param without types and names of modules to leave out
 * @throws PortolanError `invalid_request` for an unknown or invalid profile or graph; `license_required`
 */
export async function planScan(
  submitted: ScanRequest,
  config: Config,
  installed: ModuleCatalog,
  without: readonly string[] = [],
): Promise<Plan> {
  const catalogue = { ...installed, registry: withPlannedModules(installed.registry, submitted) };
  const asked = await chooseGraph(submitted, catalogue);
  const [localFile] = submitted.user === 'cli' ? [] : localFileIssues(asked, catalogue.registry);
  if (localFile) throw invalidRequest(localFile.message, [{ field: 'dag', reason: localFile.message }]);
  const chosen = withScanType(asked, submitted);
  const request = scansOnlyUdp(chosen, catalogue.registry) ? ofUdpPorts(submitted) : submitted;
  const graph = withUdpScanner(chosen, request, catalogue.registry);
  const variables = {
    vuln: request.vuln,
    profile: request.profile,
    discover: request.options.discover ?? true,
    privileged: process.getuid?.() === 0,
    compliance: (request.options.compliance ?? []).length > 0,
    intrusive: request.options.intrusive ?? false,
  };
  const configured = (definition: ModuleDefinition, nodeConfig: Record<string, unknown>) => ({
    ...moduleDefaults(definition, config),
    ...nodeConfig,
  });
  const discovering = withRequestedDiscovery(graph, request, catalogue.registry);
  const plan = planGraph(
    withAddedPlugins(discovering, request, catalogue.registry),
    catalogue.registry,
    variables,
    (definition, nodeConfig) => overlay(definition, configured(definition, nodeConfig), request, config),
    (definition, nodeConfig) =>
      without.includes(definition.type) || without.includes(definition.name)
        ? 'applies to the scan as a whole'
        : leftOut(definition, configured(definition, nodeConfig), request),
  );
  const running = plan.nodes.filter((node) => node.skipped === null);
  catalogue.license?.demandModules(running.map((node) => node.definition.name));
  return plan;
}

/** Ports without a protocol are UDP ports. */
function ofUdpPorts(request: ScanRequest): ScanRequest {
  return { ...request, options: { ...request.options, scan_type: 'udp' } };
}

function withRequestedDiscovery(graph: Graph, { options }: ScanRequest, registry: Registry): Graph {
  const { discover_profile: profile, discovery_probes: probes } = options;
  const found = profile ? withDiscovery(graph, profile, registry) : graph;
  return probes ? withProbes(found, probes, registry) : found;
}

/** What was requested and has no effect: unknown fields, features that the graph does not support; reported before and after the scan. */
export function unavailable(plan: Plan, request: ScanRequest): ScanWarning[] {
  const provided = (key: string) =>
    plan.nodes.some(({ skipped, definition }) => skipped === null && definition.provides.includes(key));
  const portsOnly = request.options.fingerprint === false;
  const cause = portsOnly
    ? 'only ports were requested (fingerprint: false)'
    : `the graph ${plan.name} runs no evaluation module for that`;
  const lack = (code: string, consequence: string): ScanWarning => ({
    code,
    message: `${cause}, so ${consequence}`,
  });
  const off =
    `the graph ${plan.name} looks for vulnerabilities, but vuln: false turns that off: ` +
    'the scan does not look for vulnerabilities';
  return [
    ...(request.ignored ?? []).map((text) => ({ code: 'unknown_field', message: `ignored ${text}` })),
    ...(plan.vuln && !request.vuln && !portsOnly && !provided('vulnerabilities')
      ? [{ code: 'evaluation_off', message: off }]
      : []),
    ...(request.vuln && !provided('vulnerabilities')
      ? [lack('vuln_unavailable', 'the scan does not look for vulnerabilities')]
      : []),
    ...(request.options.compliance?.length && !provided('compliance_violations')
      ? [lack('compliance_unavailable', 'compliance is not evaluated')]
      : []),
  ];
}

/** Whether a scan with these warnings evaluates vulnerabilities. */
export function evaluatesVulnerabilities(
  requested: boolean,
  warnings: readonly Pick<ScanWarning, 'code'>[],
): boolean {
  return requested && !warnings.some(({ code }) => code === 'vuln_unavailable');
}

/** Why a submission leaves a node out. */
function leftOut(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  request: ScanRequest,
): string | null {
  const { options } = request;
  if (definition.producer !== undefined && options.disable_plugins?.includes(definition.producer.name))
    return `the plugin ${definition.producer.name} is switched off`;
  if (options.fingerprint === false && talksToServices(definition)) return 'only ports were requested';
  if (scansUdp(definition, nodeConfig) && request.ports !== null && udpPortsOf(request.ports, request) === '')
    return 'no UDP port was requested';
  if (definition.type !== 'discovery' || options.exclude_ports === undefined) return null;
  return portsLeft(definition, nodeConfig, options.exclude_ports) === ''
    ? 'all its ports are excluded'
    : null;
}

/** Whether a module grabs banners or identifies services; without these, parsers and profilers have nothing to do. */
function talksToServices({ type, provides }: ModuleDefinition): boolean {
  return type === 'fingerprint' || (provides.includes('banners') && !provides.includes('open_ports'));
}

/** The ports of a discovery node without the excluded ones; null for a node without ports. */
function portsLeft(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  excludePorts: string,
): string | null {
  const planned = nodeConfig['ports'] ?? definition.options['ports']?.Default;
  if (typeof planned !== 'string') return null;
  const excluded = new Set(parsePorts(excludePorts, portCatalog).tcp);
  const { tcp } = parsePorts(planned, portCatalog);
  return tcp.filter((port) => !excluded.has(port)).join(',');
}

async function chooseGraph(request: ScanRequest, { library, registry }: ModuleCatalog): Promise<Graph> {
  if (request.dag === null) {
    const profile = library.profile(request.profile);
    if (profile) return profile.graph;
    const known = library.profileNames().join(', ');
    const message = `unknown profile "${request.profile}"; known: ${known}`;
    throw invalidRequest(message, [{ field: 'profile', reason: `must be one of ${known}` }]);
  }
  // Later changes of the file do not affect an accepted scan.
  if (request.graph !== undefined) return readValidGraph(request.graph, request.dag, registry);
  const installed = library.get(request.dag);
  if (installed) return installed.graph;
  // Only the command line names files; over the API a graph is an installed name.
  if (request.user === 'cli') return readGraphFile(request.dag, registry);
  throw invalidRequest(`unknown graph "${request.dag}"`, [
    { field: 'dag', reason: 'is not an installed graph' },
  ]);
}

/** Reads a graph file named on the command line. @throws PortolanError */
export async function readGraphFile(file: string, registry: Registry): Promise<Graph> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new PortolanError('usage', `cannot read the graph ${file}: ${(error as Error).message}`, {}, error);
  }
  return readValidGraph(text, file, registry);
}

/** Settings of the submission override those of the graph; the configuration supplies the rest. */
function overlay(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  request: ScanRequest,
  config: Config,
): Record<string, unknown> {
  const result = { ...nodeConfig };
  const { options } = request;
  const put = (name: string, requested: unknown, configured?: unknown) => {
    if (!Object.hasOwn(definition.options, name)) return;
    if (requested !== undefined && requested !== null) result[name] = requested;
    else if (configured !== undefined && nodeConfig[name] === undefined) result[name] = configured;
  };
  put('interface', options.interface);
  put('source_ip', options.source_ip);
  // A rate that the graph sets for a node stays below that of the scan: its author meant it as a limit.
  const rate = ceilingOf(request.rate, config.scanner.max_rate);
  put('rate', nodeConfig['rate'], Math.min(rate, definition.options['rate']?.Max ?? rate));
  if (definition.type === 'discovery') {
    const probe = options.discovery_probes?.[definition.name]?.config;
    put('timeout', probe?.['timeout'] ?? options.discovery_timeout);
    put('retry', probe?.['retry'] ?? options.discovery_retries);
    if (options.exclude_ports !== undefined)
      put('ports', portsLeft(definition, nodeConfig, options.exclude_ports));
    return result;
  }
  put('ports', portsFor(definition, nodeConfig, request));
  const probing = definition.name === 'banner_grabber' ? options.probe_timeout : undefined;
  put('timeout', probing ?? options.timeout, formatDuration(config.scanner.timeout));
  put('retries', options.retries, config.scanner.retries);
  const { Max: lanes = Number.POSITIVE_INFINITY } = definition.options['concurrency'] ?? {};
  // An upper bound, like the rate: a module that sets less stays below.
  const concurrency = options.concurrency && Math.min(options.concurrency, lanes);
  put('concurrency', concurrency, configuredConcurrency(definition, config));
  put('intrusive', options.intrusive);
  put('exclude_ports', excludedFor(definition, nodeConfig, request));
  put('max_protocols', options.max_protocols);
  put('min_severity', options.min_severity);
  if (options.compliance?.length) put('frameworks', options.compliance.join(','));
  // Only the command line names files.
  if (request.user === 'cli') put('rules', options.fingerprint_rules);
  return result;
}

/** 0 = adaptive, for modules that know how; others get what adaptive ones start with. */
function configuredConcurrency({ options }: ModuleDefinition, { scanner }: Config): number {
  const { Min: least = 1, Max: most = Number.POSITIVE_INFINITY } = options['concurrency'] ?? {};
  if (scanner.concurrency === null && least === 0) return 0;
  return Math.min(scanner.concurrency ?? leastConcurrency, most);
}

/** Ports of the submission for one scanner; null if it names none. */
function portsFor(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  request: ScanRequest,
): string | null {
  if (!scansUdp(definition, nodeConfig) || request.ports === null) return request.ports;
  return udpPortsOf(request.ports, request) || null;
}

function excludedFor(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  request: ScanRequest,
): string | undefined {
  const ofGraph = nodeConfig['exclude_ports'];
  const requested = request.options.exclude_ports;
  if (!scansUdp(definition, nodeConfig) || requested === undefined) return withExcluded(ofGraph, requested);
  const excluded = udpPortsOf(requested, request);
  if (excluded === '') return undefined;
  return typeof ofGraph === 'string' && ofGraph.trim() !== '' ? `${ofGraph},U:${excluded}` : excluded;
}

/** Adds to the exclusions of the graph. */
function withExcluded(ofGraph: unknown, requested: string | undefined): string | undefined {
  if (requested === undefined) return undefined;
  if (typeof ofGraph !== 'string' || ofGraph.trim() === '') return requested;
  // The protocol of an item applies to those after it.
  return /^\s*[TU]:/i.test(requested) ? `${ofGraph},${requested}` : `${ofGraph},T:${requested}`;
}

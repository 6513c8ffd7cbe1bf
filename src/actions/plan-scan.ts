import { readFile } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { formatDuration } from '../domain/duration.ts';
import { invalidRequest, PortolanError } from '../domain/errors.ts';
import type { ScanRequest } from '../domain/scan.ts';
import type { Graph } from '../engine/graph.ts';
import { type GraphLibrary, readValidGraph } from '../engine/graph-library.ts';
import type { ModuleDefinition } from '../engine/module.ts';
import { type Plan, planGraph } from '../engine/plan.ts';
import type { Registry } from '../engine/registry.ts';

/** What plans a scan: the installed modules and graphs. */
export interface Catalogue {
  registry: Registry;
  library: GraphLibrary;
}

/**
 * The graph that a submission asks for, with its own settings laid over it.
 * @throws PortolanError `invalid_request` for an unknown profile or graph, or one that is not valid
 */
export async function planScan(request: ScanRequest, config: Config, catalogue: Catalogue): Promise<Plan> {
  const graph = await chooseGraph(request, catalogue);
  const variables = {
    vuln: request.vuln,
    profile: request.profile,
    discover: request.options.discover ?? true,
    privileged: process.getuid?.() === 0,
    compliance: (request.options.compliance ?? []).length > 0,
    intrusive: request.options.intrusive ?? false,
  };
  return planGraph(graph, catalogue.registry, variables, (definition, nodeConfig) =>
    overlay(definition, nodeConfig, request, config),
  );
}

async function chooseGraph(request: ScanRequest, { library, registry }: Catalogue): Promise<Graph> {
  if (request.dag === null) {
    const profile = library.profile(request.profile);
    if (profile) return profile.graph;
    const known = library.profileNames().join(', ');
    const message = `unknown profile "${request.profile}"; known: ${known}`;
    throw invalidRequest(message, [{ field: 'profile', reason: `must be one of ${known}` }]);
  }
  const installed = library.get(request.dag);
  if (installed) return installed.graph;
  // Only the command line names files; over the API a graph is an installed name.
  if (request.user === 'cli') return readGraphFile(request.dag, registry);
  throw invalidRequest(`unknown graph "${request.dag}"`, [
    { field: 'dag', reason: 'is not an installed graph' },
  ]);
}

/** A graph file named on the command line. @throws PortolanError */
export async function readGraphFile(file: string, registry: Registry): Promise<Graph> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new PortolanError('usage', `cannot read the graph ${file}: ${(error as Error).message}`, {}, error);
  }
  return readValidGraph(text, file, registry);
}

/** Settings of the submission go before those of the graph; the configuration fills what neither says. */
function overlay(
  definition: ModuleDefinition,
  nodeConfig: Record<string, unknown>,
  request: ScanRequest,
  config: Config,
): Record<string, unknown> {
  const result = { ...nodeConfig };
  const { options } = request;
  const put = (name: string, asked: unknown, configured?: unknown) => {
    if (!Object.hasOwn(definition.options, name)) return;
    if (asked !== undefined && asked !== null) result[name] = asked;
    else if (configured !== undefined && nodeConfig[name] === undefined) result[name] = configured;
  };
  // A rate that the graph sets for a node stays below the scan's: its author meant it as a limit.
  put('rate', nodeConfig['rate'], Math.min(request.rate, definition.options['rate']?.Max ?? request.rate));
  if (definition.type === 'discovery') return result;
  put('ports', definition.name === 'banner_grabber' ? undefined : request.ports);
  put('timeout', options.timeout, formatDuration(config.scanner.timeout));
  put('retries', options.retries, config.scanner.retries);
  put('concurrency', options.concurrency, config.scanner.concurrency);
  put('intrusive', options.intrusive);
  return result;
}

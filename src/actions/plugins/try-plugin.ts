import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Address } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { compileScope, type Scope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { loadGraph } from '../../engine/graph/graph.ts';
import { readInstalled } from '../../engine/graph/installed-files.ts';
import { planGraph } from '../../engine/graph/plan.ts';
import { ModuleLifecycle } from '../../engine/lifecycle.ts';
import { defineModule, type ModuleDefinition } from '../../engine/module.ts';
import { Registry } from '../../engine/registry.ts';
import { type RunEnvironment, runGraph } from '../../engine/run.ts';
import { isControlPort } from '../../knowledge/probes/control-system.ts';
import { PacketRateLimiter } from '../../net/gate/rate.ts';
import { createGate } from '../../net/gate/scoped-gate.ts';
import type { PluginFile, PluginMetadata } from '../../plugins/plugin.ts';
import { signedBytes } from '../../plugins/plugin-bytes.ts';
import { describeByKind, moduleByKind } from '../../plugins/plugin-kinds.ts';
import { type ItemsByKey, readItems } from '../../plugins/plugin-sample.ts';
import { PrivateFolder } from '../../plugins/private-folder.ts';
import { evaluateSignature, requireTrust } from '../../plugins/signature.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { openPlugin } from './open-plugin.ts';

/** Maximum size of a sample of items, bytes. */
const maxItemSampleBytes = 16 * 1024 * 1024;
/** Maximum number of published items, warnings and log lines that are shown. */
const maxShownItems = 1000;
/** Packets per second that a plugin may send in a trial. */
const trialRate = 100;

export interface PluginTrialResult {
  file: Pick<PluginFile, 'name' | 'version' | 'kind' | 'sha256' | 'permissions'>;
  metadata: PluginMetadata;
  /** Null without a sample. */
  run: PluginRun | null;
}

interface PluginRun {
  /** In the order of publishing, as a scan would take them. */
  published: { key: string; item: unknown }[];
  /** Items beyond those. */
  more: number;
  warnings: string[];
  log: string[];
  /** Why the node failed; null if it completed. */
  error: string | null;
}

export interface TryContext {
  config: Pick<Config, 'plugins' | 'scanner'>;
  license: License;
  /** Names of builtin modules. */
  builtin: readonly string[];
}

/**
 * Loads a plugin in the sandbox and, with a sample, runs it once on these items. It may send to the `targets` of the sample
 * only, and only with the permission.
 * @throws PortolanError if it is refused
 */
export async function tryPlugin(
  path: string,
  sample: string | null,
  context: TryContext,
): Promise<PluginTrialResult> {
  const { config, license, builtin } = context;
  const plugin = await openPlugin(path);
  const { name, version, kind, sha256, permissions } = plugin.file;
  if (config.plugins.require_signature) license.demand('plugin_signatures');
  requireTrust(
    name,
    evaluateSignature(signedBytes(plugin), plugin.signature, config.plugins),
    config.plugins,
  );
  const folder = new PrivateFolder();
  try {
    const file = await folder.place(plugin);
    const metadata = await describeByKind(file, config.plugins);
    if (metadata === null)
      throw new PortolanError('usage', `${path} has rules: give a sample to evaluate them on`);
    if (builtin.includes(metadata.name))
      throw new PortolanError('configuration', `its module "${metadata.name}" has the name of a builtin one`);
    const items = sample === null ? null : readItems(await readInstalled(sample, maxItemSampleBytes));
    const run = items && (await runOnce(moduleByKind({ file, metadata }, config.plugins), items, context));
    return { file: { name, version, kind, sha256, permissions }, metadata, run };
  } finally {
    await folder.remove();
  }
}

async function runOnce(
  definition: ModuleDefinition,
  items: ItemsByKey,
  { config }: TryContext,
): Promise<PluginRun> {
  const { requires } = definition;
  const missing = requires.find((key) => !key.split('|').some((one) => one === 'targets' || items.has(one)));
  if (missing !== undefined)
    throw new PortolanError('usage', `the plugin requires ${missing}, which the sample does not have`);
  const run: PluginRun = { published: [], more: 0, warnings: [], log: [], error: null };
  const modules = new ModuleLifecycle().forScan();
  const environment = environmentOf(items, config, run, modules);
  const graph = runGraph(planOf(definition, items), environment);
  await graph.finished;
  await modules.end(environment.log);
  run.error = graph.stages.find((stage) => stage.instance_id === 'plugin')?.error ?? null;
  return run;
}

function planOf(definition: ModuleDefinition, items: ItemsByKey) {
  const keys = [...items.keys()].filter((key) => key !== 'targets');
  const registry = new Registry();
  registry.register(sampleModule(keys, items), 'sample');
  registry.register(definition, 'file');
  const text = [
    'nodes:',
    '  - {instance_id: sample, module_type: plugin_sample}',
    `  - {instance_id: plugin, module_type: ${definition.name}, depends_on: [sample]}`,
    '',
  ].join('\n');
  const { graph } = loadGraph(text, 'trial');
  const off = { vuln: true, discover: true, privileged: false, compliance: false, intrusive: false };
  return planGraph(graph, registry, { ...off, profile: 'trial' }, (_definition, options) => options);
}

/** Publishes the sample. */
function sampleModule(keys: readonly string[], items: ItemsByKey): ModuleDefinition {
  return defineModule({
    name: 'plugin_sample',
    type: 'scanner',
    version: '1.0.0',
    description: 'Publishes a sample.',
    options: {},
    requires: [],
    provides: [...keys],
    async execute(_ctx, data) {
      for (const key of keys) for (const item of items.get(key) ?? []) await data.append(key, item);
    },
  });
}

function hostsOf(item: unknown): string[] {
  const { host, ip } = (item ?? {}) as { host?: unknown; ip?: unknown };
  return [host, ip].filter((value) => typeof value === 'string');
}

function targetsOnly(scope: Scope, targets: AddressSet): Scope {
  const named = (address: string | Address) =>
    typeof address === 'string' ? targets.has(address) : targets.hasAddress(address);
  return {
    permits: (address) => named(address) && scope.permits(address),
    split(addresses) {
      const { inside } = scope.split(addresses.intersect(targets));
      return { inside, outside: addresses.minus(inside) };
    },
  };
}

/** Only reporters read results, and no plugin is one. */
const noResults: RunEnvironment['results'] = {
  scanId: 'trial',
  targets: [],
  request: null,
  startedAt: null,
  stages: () => [],
  summary: () => Promise.reject(new Error('a trial has no results')),
  failure: () => null,
  async *rows() {},
  warnings: () => [],
  evaluated: true,
  reportsDir: null,
  templatesDir: null,
};

function environmentOf(
  items: ItemsByKey,
  { scanner, plugins }: TryContext['config'],
  run: PluginRun,
  modules: RunEnvironment['modules'],
): RunEnvironment {
  const list = parseTargets((items.get('targets') ?? []).filter((target) => typeof target === 'string'));
  const hosts = [...items].flatMap(([key, each]) => (key === 'targets' ? [] : each.flatMap(hostsOf)));
  const note = (level: string) => (message: string) => {
    if (run.log.length < maxShownItems) run.log.push(`${level}: ${message}`);
  };
  const absent = (what: string) => () => Promise.reject(new Error(`a trial has no ${what}`));
  return {
    scanId: 'trial',
    targets: list.targets,
    net: createGate({
      // Results may be about every host of the sample.
      addresses: parseTargets([...list.targets.map(({ value }) => value), ...hosts]).addresses,
      scope: targetsOnly(compileScope(scanner.scope), list.addresses),
      rate: new PacketRateLimiter({ rate: trialRate }),
      closesInOrder: isControlPort,
    }),
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    modules,
    results: noResults,
    fingerprints: absent('fingerprints'),
    evaluationRules: absent('rules'),
    vulnerabilities: absent('vulnerability data'),
    signal: AbortSignal.timeout(plugins.limits.timeout),
    streamBuffer: 1024,
    maxParallelNodes: 2,
    pluginOutput: plugins.limits,
    failFast: false,
    stallTimeoutMs: 0,
    tap: (key, item, plugin) => {
      if (plugin === undefined) return undefined;
      if (run.published.length < maxShownItems) run.published.push({ key, item });
      else run.more++;
      return undefined;
    },
    beforeReporters: async () => {},
    onWarning: ({ code, message }) => {
      // `error` says it.
      if (code === 'node_failed') return;
      if (run.warnings.length < maxShownItems) run.warnings.push(`${code}: ${message}`);
    },
    onProgress: () => {},
    earlier: null,
  };
}

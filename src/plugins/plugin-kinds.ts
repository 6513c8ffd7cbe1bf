import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ModuleDefinition } from '../engine/module.ts';
import { absentModule } from './absent-module.ts';
import { describeGrpc } from './grpc/describe-grpc.ts';
import { grpcModule } from './grpc/grpc-module.ts';
import type { GrpcEntry } from './grpc/module-client.ts';
import type { DescribedPlugin, PluginFile, PluginLimits, PluginMetadata } from './plugin.ts';
import { describePlugin, pluginModule } from './plugin-module.ts';
import { rulesOfPlugin } from './rules/plugin-rules.ts';

export type PluginSettings = Pick<Config['plugins'], 'limits' | 'list' | 'allow_unconfined'>;

/** Timeout of a call to a plugin whose package names its address, milliseconds. */
const usualCallMs = 30_000;
/** Hosts of a call to it. */
const usualBatch = 64;

/**
 * What a plugin says about its module; null for rules, which have none.
 * @throws PortolanError `configuration` if it cannot be loaded
 */
export async function describeByKind(
  file: PluginFile,
  settings: PluginSettings,
): Promise<PluginMetadata | null> {
  switch (file.kind) {
    case 'rules':
      await rulesOfPlugin(file);
      return null;
    case 'grpc':
      return await describeRemote(file, settings);
    case 'templates':
      throw new PortolanError('configuration', 'this version does not run plugins of kind templates');
    default:
      return await describePlugin(file, limitsOf(settings));
  }
}

async function describeRemote(file: PluginFile, { limits }: PluginSettings): Promise<PluginMetadata> {
  const entry = packagedEntry(file);
  try {
    return await describeGrpc(entry, limits, AbortSignal.timeout(entry.timeout));
  } catch (error) {
    throw new PortolanError('configuration', (error as Error).message, {}, error);
  }
}

/** The module type that a plugin adds. */
export function moduleByKind(described: DescribedPlugin, settings: PluginSettings): ModuleDefinition {
  const { file, metadata } = described;
  if (file.kind !== 'grpc') return pluginModule(described, limitsOf(settings));
  const entry = file.archive ? packagedEntry(file) : settings.list.find(({ name }) => name === file.name);
  if (!entry) return absentModule(described, 'it is not in plugins.list of this machine');
  const { name, version, sha256 } = file;
  return grpcModule(entry, metadata, settings.limits, { name, version, sha256 });
}

/** Without TLS: a package has no certificates of the operator. */
function packagedEntry({ name, entry: endpoint }: PluginFile): GrpcEntry {
  const tls = { ca_file: '', cert_file: '', key_file: '' };
  return { name, type: 'grpc', endpoint, timeout: usualCallMs, batch_size: usualBatch, tls };
}

function limitsOf({ limits, allow_unconfined: allowUnconfined }: PluginSettings): PluginLimits {
  return { ...limits, allowUnconfined };
}

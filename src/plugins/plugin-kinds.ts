import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { defineModule, type ModuleDefinition } from '../engine/module.ts';
import type { DescribedPlugin, PlannedPlugin, PluginFile, PluginLimits, PluginMetadata } from './plugin.ts';
import { describePlugin, pluginModule } from './plugin-module.ts';

export type PluginSettings = Pick<Config['plugins'], 'limits' | 'list' | 'allow_unconfined'>;

/** Kinds that run in a host of the sandbox. */
const hostedKinds: readonly string[] = ['native', 'script', 'wasm'];

/**
 * What a plugin says about its module; null for rules, which have none.
 * @throws PortolanError `configuration` if it cannot be loaded
 */
export async function describeByKind(
  file: PluginFile,
  settings: PluginSettings,
): Promise<PluginMetadata | null> {
  if (file.kind === 'rules') {
    const { rulesOfPlugin } = await import('./rules/plugin-rules.ts');
    await rulesOfPlugin(file);
    return null;
  }
  if (hostedKinds.includes(file.kind)) return await describePlugin(file, limitsOf(settings));
  throw new PortolanError('configuration', `this build does not run plugins of kind ${file.kind} yet`);
}

/** The module type that a plugin adds. */
export function moduleByKind(described: DescribedPlugin, settings: PluginSettings): ModuleDefinition {
  if (hostedKinds.includes(described.file.kind)) return pluginModule(described, limitsOf(settings));
  const reason = `this build does not run plugins of kind ${described.file.kind} yet`;
  return absentModule(described, reason);
}

function limitsOf({ limits, allow_unconfined }: PluginSettings): PluginLimits {
  return { ...limits, allowUnconfined: allow_unconfined };
}

type PlannedModule = Pick<PlannedPlugin, 'file'> & { metadata: PluginMetadata };

/** A module type for planning whose nodes fail. @param reason why it cannot run here */
export function absentModule(plugin: PlannedModule, reason: string): ModuleDefinition {
  const { file, metadata } = plugin;
  const { name, version, sha256 } = file;
  const definition = defineModule({
    ...metadata,
    execute: () =>
      Promise.reject(
        new PortolanError('configuration', `plugin ${name} ${version} (${sha256.slice(0, 12)}): ${reason}`),
      ),
  });
  return { ...definition, producer: { name, version, sha256 } };
}

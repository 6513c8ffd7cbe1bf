import { PortolanError } from '../domain/errors.ts';
import { defineModule, type ModuleDefinition } from '../engine/module.ts';
import type { PlannedPlugin, PluginMetadata } from './plugin.ts';

type PlannedModule = Pick<PlannedPlugin, 'file'> & { metadata: PluginMetadata };

/** A module type for planning whose nodes fail. @param reason why it cannot run here */
export function absentModule(plugin: PlannedModule, reason: string): ModuleDefinition {
  const { file, metadata } = plugin;
  const { name, version, sha256 } = file;
  const { unavailable } = metadata;
  const definition = defineModule({
    ...metadata,
    execute: () =>
      Promise.reject(
        new PortolanError('configuration', `plugin ${name} ${version} (${sha256.slice(0, 12)}): ${reason}`),
      ),
  });
  const producer = { name, version, sha256 };
  return { ...definition, producer, ...(unavailable !== undefined && { unavailable }) };
}

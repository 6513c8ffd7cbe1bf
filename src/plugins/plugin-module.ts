import { PortolanError } from '../domain/errors.ts';
import { defineModule, type ModuleDefinition } from '../engine/module.ts';
import type { DescribedPlugin, PluginFile, PluginLimits, PluginMetadata } from './plugin.ts';
import { checkMetadata } from './plugin-metadata.ts';
import { SandboxFailure } from './sandbox/host-process.ts';
import { PluginSession } from './session/plugin-session.ts';

/**
 * Loads a plugin of a sandboxed kind in a host of its own and asks what it is.
 * @throws PortolanError `configuration`
 */
export async function describePlugin(file: PluginFile, limits: PluginLimits): Promise<PluginMetadata> {
  const session = new PluginSession(file, limits, { initialize: false });
  try {
    return checkMetadata(await session.metadata());
  } catch (error) {
    throw new PortolanError('configuration', `plugin ${file.name}: ${reasonOf(error)}`, {}, error);
  } finally {
    await session.close();
  }
}

/** The module of a plugin that runs in the sandbox: one host per scan. */
export function pluginModule({ file, metadata }: DescribedPlugin, limits: PluginLimits): ModuleDefinition {
  let session: PluginSession | null = null;
  const started = () => {
    session ??= new PluginSession(file, limits);
    return session;
  };
  const definition = defineModule({
    ...metadata,
    prepare: () => void started(),
    execute: (ctx, data) => started().run(ctx.options, ctx, data),
  });
  return {
    ...definition,
    producer: { name: file.name, version: file.version, sha256: file.sha256 },
    async endScan() {
      const ended = session;
      session = null;
      await ended?.close();
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof SandboxFailure && error.reason === 'missing') {
    return `this system lacks a part of the sandbox (${error.message}); plugins.allow_unconfined loads it without`;
  }
  return error instanceof Error ? error.message : String(error);
}

import { installPlugin } from '../../actions/plugins/install-plugin.ts';
import type { ModuleType } from '../../engine/module.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import type { CliWiring } from '../wiring.ts';
import { changePlugins } from './plugin-session.ts';

export interface InstallFlags {
  sha256?: string;
  force?: boolean;
  name?: string;
  pluginVersion?: string;
  permission?: string[];
  stage?: ModuleType;
}

export function install(
  source: string,
  { sha256 = null, force = false, ...flags }: Omit<InstallFlags, 'sha256'> & { sha256?: string | null },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { name = null, pluginVersion: version = null, permission: permissions = [], stage = null } = flags;
  const given = name !== null || version !== null || permissions.length > 0 || stage !== null;
  const wrap = given ? { name, version, permissions, stage } : null;
  return changePlugins({ operation: 'plugin.install', id: null }, wiring, global, (context) =>
    installPlugin({ source, sha256, force, wrap }, context),
  );
}

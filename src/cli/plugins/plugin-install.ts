import { installPlugin } from '../../actions/plugins/install-plugin.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import type { CliWiring } from '../wiring.ts';
import { changePlugins } from './plugin-session.ts';

export function install(
  source: string,
  { sha256 = null, force = false }: { sha256?: string | null; force?: boolean },
  wiring: CliWiring,
  global: GlobalFlags,
): Promise<number> {
  return changePlugins({ operation: 'plugin.install', id: null }, wiring, global, (context) =>
    installPlugin({ source, sha256, force }, context),
  );
}

import { rollBackPlugin, updatePlugin } from '../../actions/plugins/install-plugin.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import type { CliWiring } from '../wiring.ts';
import { changePlugins } from './plugin-session.ts';

export function update(
  name: string,
  flags: { rollback?: boolean; sha256?: string; force?: boolean },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { rollback, sha256 = null, force = false } = flags;
  if (rollback && (sha256 !== null || force)) throw usage('--rollback excludes --sha256 and --force');
  const operation = rollback ? 'plugin.rollback' : 'plugin.update';
  return changePlugins({ operation, id: name }, wiring, global, (context) =>
    rollback ? rollBackPlugin(name, context) : updatePlugin(name, { sha256, force }, context),
  );
}

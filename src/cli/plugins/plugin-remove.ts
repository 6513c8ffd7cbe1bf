import { removePlugin } from '../../actions/plugins/list-plugins.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';

export async function remove(
  name: string,
  { force = false }: { force?: boolean },
  global: GlobalFlags,
): Promise<void> {
  const { config } = await readConfig(global);
  const workspace = await openWorkspace(config.workspace.dir);
  await recordChange(
    { config, workspace },
    { operation: 'plugin.remove', id: name },
    () => removePlugin(name, config, { force }),
    ({ current }) => ({ details: { version: current.version, sha256: current.sha256 } }),
  );
  if (!global.quiet) note(`plugin ${printable(name)} removed`);
}

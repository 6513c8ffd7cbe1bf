import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { loadGraph, maxGraphBytes } from '../../engine/graph/graph.ts';
import { installedFolders, listInstalled, readInstalled } from '../../engine/graph/installed-files.ts';
import type { PlannedPlugin } from '../../plugins/plugin.ts';
import { graphsWith } from '../../scan-run/plan/plan-plugins.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { ListedPlugin } from './load-plugins.ts';

export interface PlacedRow extends ListedPlugin {
  /** Names of the graphs in which it runs. */
  runs_in: string[];
}

/** The rows with the graphs in which each plugin runs. */
export function withGraphs(
  rows: readonly ListedPlugin[],
  {
    library,
    registry,
    plugins = [],
  }: Pick<ModuleCatalog, 'library' | 'registry'> & {
    plugins?: readonly PlannedPlugin[];
  },
): PlacedRow[] {
  const graphs = library.list();
  return rows.map((row) => {
    const plugin = row.loaded && plugins.find(({ file }) => file.name === row.name);
    return { ...row, runs_in: plugin ? graphsWith(plugin, graphs, registry) : [] };
  });
}

/** The installed graph files that name one of these modules; nothing of a plugin is run to know them. */
export async function graphsNaming(
  modules: readonly string[],
  { workspace }: Pick<Config, 'workspace'>,
): Promise<string[]> {
  const found: string[] = [];
  for (const { dir } of installedFolders(workspace.enabled ? workspace.dir : null, process.env).dags) {
    for (const file of (await listInstalled(dir)).files) {
      try {
        const { graph } = loadGraph(await readInstalled(file, maxGraphBytes), file);
        if (graph.nodes.some(({ moduleType }) => modules.includes(moduleType))) found.push(graph.name);
      } catch (error) {
        // Whoever uses the graph is told what is wrong with it.
        if (!(error instanceof PortolanError)) throw error;
      }
    }
  }
  return found;
}

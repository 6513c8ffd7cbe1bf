import { basename } from 'node:path';
import { deleteGraph, saveGraph } from '../../actions/graphs/change-graph.ts';
import { GraphChecker } from '../../actions/graphs/graph-checker.ts';
import type { WritableLibrary } from '../../actions/graphs/graph-files.ts';
import { PortolanError } from '../../domain/errors.ts';
import { loadGraph } from '../../engine/graph/graph.ts';
import { recordChange } from '../access/audit-change.ts';
import { anything } from '../session/response-shape.ts';
import { findServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { graphNamesShape } from '../session/server-responses.ts';
import { loadModuleCatalog, withStore } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { readGraphText } from './graph-text.ts';

/** Installs a graph file under the name that it has; a running server has it at once. */
export async function installGraph(
  file: string,
  { force = false, ...flags }: ServerFlags & { force?: boolean },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const text = await readGraphText(file);
  const { name } = loadGraph(text, basename(file).replace(/\.\w{1,8}$/, '')).graph;
  const versionOver = (names: readonly string[]) => {
    if (!names.includes(name)) return null;
    if (force) return '*';
    throw new PortolanError('conflict', `the graph ${name} is installed; --force replaces it`);
  };
  const client = await findServer(flags, global);
  if (client) {
    const { dags } = await client.call('GET', '/api/v1/dags', graphNamesShape);
    const version = versionOver(dags.map((each) => each.name));
    const headers = version === null ? {} : { 'if-match': version };
    await client.call('PUT', pathOf(name), anything, { text }, undefined, headers);
  } else {
    await changeHere({ operation: 'dag.write', name }, global, wiring, (library) => {
      const version = versionOver(library.installed.library.list().map((each) => each.name));
      const unbounded = new AbortController().signal;
      return saveGraph(library, new GraphChecker(), { name, text, version }, unbounded);
    });
  }
  if (!global.quiet) note(printable(`graph ${name} installed: portolan scan TARGETS --dag ${name}`));
}

/** Deletes an installed graph that no profile and no job names. */
export async function removeGraph(
  name: string,
  flags: ServerFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const client = await findServer(flags, global);
  if (client) await client.call('DELETE', pathOf(name), anything);
  else {
    await changeHere({ operation: 'dag.remove', name }, global, wiring, (library) =>
      deleteGraph(library, name, null),
    );
  }
  if (!global.quiet) note(printable(`graph ${name} removed`));
}

function pathOf(name: string): string {
  return `/api/v1/dags/${encodeURIComponent(name)}`;
}

/** No server runs on the workspace: the next one reads the folder. */
function changeHere(
  { operation, name }: { operation: 'dag.write' | 'dag.remove'; name: string },
  global: GlobalFlags,
  wiring: CliWiring,
  work: (library: WritableLibrary) => Promise<void>,
): Promise<void> {
  return withStore(global, async ({ config, workspace, store }) => {
    const installed = await loadModuleCatalog(wiring, config);
    const library = { config, tenant: null, workspace, store, installed };
    try {
      const change: WritableLibrary['change'] = (changing) => changing();
      await recordChange({ config, workspace }, { operation, id: name }, () => work({ ...library, change }));
    } finally {
      await installed.release();
    }
  });
}

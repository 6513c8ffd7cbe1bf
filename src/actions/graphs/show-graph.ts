import type { LibraryEntry } from '../../engine/graph/graph-library.ts';
import type { NamingJob } from '../../store/client-jobs/client-jobs.ts';
import { type LibraryContext, ownGraphs } from './graph-files.ts';
import { type GraphView, graphView } from './graph-view.ts';
import { requireEntry, versionOf } from './own-files.ts';

/** An installed graph. */
export interface GraphDetail extends GraphView {
  source: string;
  /** Whether the client's tenant may replace and delete it. */
  editable: boolean;
  text: string;
  used_by: GraphUsers;
}

export interface GraphUsers {
  /** Names. */
  profiles: string[];
  /** Unfinished ones. */
  jobs: NamingJob[];
}

/** @returns the graph and its version @throws PortolanError `not_found` */
export async function showGraph(
  context: LibraryContext,
  name: string,
): Promise<{ detail: GraphDetail; version: string }> {
  const { library, registry } = context.installed;
  const entry = requireEntry('graph', library.get(name));
  const { source, text } = entry;
  const detail = {
    ...graphView(entry.graph, registry),
    source,
    editable: source === ownGraphs(context).source,
    text,
    used_by: await usersOf(context, entry),
  };
  return { detail, version: versionOf(entry) };
}

/** The profiles and jobs that name a graph. */
export async function usersOf(
  { store, installed }: LibraryContext,
  { name, aliases }: Pick<LibraryEntry, 'name' | 'aliases'>,
): Promise<GraphUsers> {
  const profiles = installed.library.profiles().filter(({ dag }) => dag === name || aliases.includes(dag));
  const jobs = await Promise.all([name, ...aliases].map((called) => store.clientJobs.naming('dag', called)));
  return { profiles: profiles.map((profile) => profile.name), jobs: jobs.flat() };
}

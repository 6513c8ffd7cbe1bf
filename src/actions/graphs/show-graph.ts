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
  /** Changes with the text. */
  version: string;
  used_by: GraphUsers;
}

export interface GraphUsers {
  /** Names. */
  profiles: string[];
  /** Unfinished ones. */
  jobs: NamingJob[];
}

/** @throws PortolanError `not_found` */
export async function showGraph(context: LibraryContext, name: string): Promise<GraphDetail> {
  const { library, registry } = context.installed;
  const entry = requireEntry('graph', library.get(name));
  const { source, text } = entry;
  return {
    ...graphView(entry.graph, registry),
    source,
    editable: source === ownGraphs(context).source,
    text,
    version: versionOf(entry),
    used_by: await usersOf(context, entry),
  };
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

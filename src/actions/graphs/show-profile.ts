import type { Graph } from '../../engine/graph/graph.ts';
import { requestsVuln } from '../../engine/graph/graph.ts';
import type { ProfileEntry } from '../../engine/graph/graph-library.ts';
import type { Registry } from '../../engine/registry.ts';
import type { NamingJob } from '../../store/client-jobs/client-jobs.ts';
import { type LibraryContext, ownProfiles } from './graph-files.ts';
import { requireEntry, versionOf } from './own-files.ts';

export interface ProfileDetail {
  name: string;
  description: string;
  source: string;
  /** Whether the client's tenant may replace and delete it. */
  editable: boolean;
  aliases: string[];
  /** Name of its graph. */
  dag: string;
  /** Null if its graph alone decides, and names none. */
  ports: string | null;
  options: Record<string, unknown>;
  vuln: boolean;
  text: string;
  /** Changes with the text. */
  version: string;
  used_by: { jobs: NamingJob[] };
}

/** @throws PortolanError `not_found` */
export async function showProfile(context: LibraryContext, name: string): Promise<ProfileDetail> {
  const { library, registry } = context.installed;
  const entry = requireEntry('profile', library.profile(name));
  const { description, source, aliases, dag, settings, graph, text } = entry;
  return {
    name: entry.name,
    description,
    source,
    editable: source === ownProfiles(context).source,
    aliases,
    dag,
    ports: settings?.ports ?? portsOf(graph, registry),
    options: optionsOf(entry),
    vuln: settings?.vuln ?? requestsVuln(graph),
    text,
    version: versionOf(entry),
    used_by: { jobs: await jobsNaming(context, entry) },
  };
}

export async function jobsNaming(
  { store }: Pick<LibraryContext, 'store'>,
  { name, aliases }: Pick<ProfileEntry, 'name' | 'aliases'>,
): Promise<NamingJob[]> {
  const found = await Promise.all(
    [name, ...aliases].map((called) => store.clientJobs.naming('profile', called)),
  );
  return found.flat();
}

/** The ports of the scanners of a graph. */
function portsOf({ nodes }: Graph, registry: Registry): string | null {
  const texts = nodes.flatMap(({ moduleType, config: { ports } }) => {
    const definition = registry.get(moduleType);
    if (definition?.type !== 'scanner' || !definition.provides.includes('open_ports')) return [];
    const chosen = ports ?? definition.options['ports']?.Default;
    if (chosen === undefined) return [];
    return [moduleType === 'udp_scanner' ? `U:${chosen}` : String(chosen)];
  });
  return texts.length === 0 ? null : [...new Set(texts)].join(',');
}

/** What a profile file sets, in the names of the API; a builtin profile is its graph, without settings. */
function optionsOf({ settings }: ProfileEntry): Record<string, unknown> {
  const { ports: _ports, vuln: _vuln, ...options } = settings ?? {};
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

import type { ListedPlugin } from '../actions/plugins/load-plugins.ts';
import type { Libraries } from './installed.ts';

/** Plugins as found, and the graphs and profiles in force. */
export interface FoundInstallation {
  listed: readonly Pick<ListedPlugin, 'name' | 'version' | 'sha256' | 'error'>[];
  libraries: Pick<Libraries, 'service' | 'tenants'>;
}

/** What is new, other or gone: `plugin staging 0.1.0`, `graph sweep (removed)`. */
export function installedChanges(before: FoundInstallation, after: FoundInstallation): string[] {
  const [old, now] = [contentsOf(before), contentsOf(after)];
  const failed = new Set(
    after.listed.filter(({ error }) => error !== null).map((plugin) => pluginText(plugin)),
  );
  const changed = [...now].flatMap(([what, content]) => (old.get(what) === content ? [] : [what]));
  const removed = [...old.keys()].filter((what) => !now.has(what));
  return [
    ...changed.map((what) => (failed.has(what) ? `${what} (not loaded, see the log)` : what)),
    ...removed.map((what) => `${what} (removed)`),
  ];
}

/** By what people call it. */
function contentsOf({ listed, libraries: { service, tenants } }: FoundInstallation): Map<string, string> {
  return new Map([
    ...listed.map((plugin) => [pluginText(plugin), `${plugin.sha256} ${plugin.error}`] as const),
    ...[...tenants].flatMap(([tenant, library]) => filesOf(library, ` of ${tenant}`)),
    ...filesOf(service, ''),
  ]);
}

function filesOf(library: Libraries['service'], owner: string): [string, string][] {
  return [
    ...library.list().map(({ name, text }): [string, string] => [`graph ${name}${owner}`, text]),
    ...library.profiles().map(({ name, text }): [string, string] => [`profile ${name}${owner}`, text]),
  ];
}

function pluginText({ name, version }: Pick<ListedPlugin, 'name' | 'version'>): string {
  return `plugin ${name} ${version}`;
}

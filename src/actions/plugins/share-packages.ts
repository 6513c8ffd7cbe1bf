import { readPackage } from '../../plugins/package-archive.ts';
import type { PluginStore } from '../../plugins/plugin-store.ts';
import type { Store } from '../../store/open.ts';
import type { PackageEntry } from '../../store/plugin-packages.ts';

/** Packages that are no longer installed stay for scans that were planned with them, milliseconds. */
const keptMs = 30 * 24 * 3_600_000;

/** What is known of a plugin in one place. */
type Known = { at: string; installed: { version: string; sha256: string } | null };

/**
 * Makes the installed plugins of this machine and those of the database the same: for each name the newer change
 * counts, also a removal.
 * @throws PortolanError if either is damaged
 */
export async function sharePackages(store: Store, local: PluginStore, now = Date.now()): Promise<void> {
  const here = await knownHere(local);
  const shared = knownOf(await store.pluginPackages.list());
  for (const name of new Set([...here.keys(), ...shared.keys()])) {
    const [own, other] = [here.get(name), shared.get(name)];
    if (own && (!other || own.at >= other.at)) await publish(name, own, other, store, local);
    else if (other) await adopt(name, other, own, store, local);
  }
  await store.pluginPackages.deleteOld(new Date(now - keptMs).toISOString());
}

async function knownHere(local: PluginStore): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for (const [name, at] of await local.removals()) known.set(name, { at, installed: null });
  for (const { name, current } of await local.list()) {
    const { version, sha256, installed_at } = current;
    known.set(name, { at: installed_at, installed: { version, sha256 } });
  }
  return known;
}

/** Bare files are never installed. */
function knownOf(entries: readonly PackageEntry[]): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const { name, version, sha256, state, installed_at, file_name } of entries) {
    if (file_name !== null || state === 'kept' || known.has(name)) continue;
    known.set(name, { at: installed_at, installed: state === 'installed' ? { version, sha256 } : null });
  }
  return known;
}

async function publish(
  name: string,
  { at, installed }: Known,
  other: Known | undefined,
  store: Store,
  local: PluginStore,
): Promise<void> {
  if (other?.at === at && other.installed?.sha256 === installed?.sha256) return;
  if (installed === null) return store.pluginPackages.markRemoved(name, at);
  const { current } = await local.get(name);
  // A package that was altered here is reported when it is loaded.
  const content = await local.load(name, current).catch(() => null);
  if (content === null) return;
  const { archive, signature } = content;
  const { version, sha256, source } = current;
  await store.transaction((inside) =>
    inside.pluginPackages.put({
      name,
      version,
      sha256,
      state: 'installed',
      installed_at: at,
      source,
      file_name: null,
      signature,
      bytes: archive,
    }),
  );
}

async function adopt(
  name: string,
  { at, installed }: Known,
  own: Known | undefined,
  store: Store,
  local: PluginStore,
): Promise<void> {
  if (installed === null) {
    if (own?.installed) await local.remove(name, at);
    return;
  }
  const row = await store.pluginPackages.get({ name, ...installed });
  if (row === null) return;
  const archive = Buffer.from(row.bytes);
  const content = await readPackage(archive);
  if (content.sha256 !== installed.sha256 || content.manifest.name !== name) return;
  await local.install(content, { archive, signature: row.signature }, row.source, true, at);
}

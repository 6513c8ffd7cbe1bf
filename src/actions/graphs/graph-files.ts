import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { maxGraphBytes } from '../../engine/graph/graph.ts';
import { maxProfileBytes } from '../../engine/graph/profile-file.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { OwnFiles } from './own-files.ts';

/** The graphs and profiles of a client, and where it may write. */
export interface LibraryContext {
  config: Config;
  /** Null without tenants. */
  tenant: string | null;
  store: Store;
  workspace: Workspace;
  readonly installed: ModuleCatalog;
}

/** A context whose files can be changed. */
export interface WritableLibrary extends LibraryContext {
  /** Changes files, and puts them in force before it resolves. */
  change<T>(work: () => Promise<T>): Promise<T>;
}

export function ownGraphs(context: LibraryContext): OwnFiles {
  return {
    what: 'graph',
    ...placeOf(context, 'dags'),
    maxBytes: maxGraphBytes,
    find: (name) => context.installed.library.get(name),
  };
}

export function ownProfiles(context: LibraryContext): OwnFiles {
  return {
    what: 'profile',
    ...placeOf(context, 'profiles'),
    maxBytes: maxProfileBytes,
    find: (name) => context.installed.library.profile(name),
  };
}

function placeOf(
  { tenant, workspace }: LibraryContext,
  folder: 'dags' | 'profiles',
): Pick<OwnFiles, 'dir' | 'source'> {
  const dir = join(workspace.dir, 'config', folder);
  return { dir, source: tenant === null ? 'workspace' : 'tenant' };
}

/** @throws PortolanError `conflict` without a workspace: nothing would be left after a restart */
export function requireWorkspace({ config }: LibraryContext): void {
  if (config.workspace.enabled) return;
  throw new PortolanError('conflict', 'Graphs and profiles cannot be saved: workspace.enabled is false.');
}

import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';

/** Maximum number of files read from one folder; further ones are reported and skipped. */
export const maxInstalledFiles = 200;

/** Origin of a graph or profile. */
export type InstalledSource = 'builtin' | 'system' | 'user' | 'workspace' | 'tenant' | 'file';

export interface InstalledFolder {
  source: InstalledSource;
  dir: string;
}

/** Folders of installed graphs and profiles; of two with one name the later one wins. Rules have ids of their own. */
export interface InstalledFolders {
  dags: InstalledFolder[];
  profiles: InstalledFolder[];
  rules: InstalledFolder[];
}

/** @param workspaceDir null without a workspace */
export function installedFolders(workspaceDir: string | null, env: NodeJS.ProcessEnv): InstalledFolders {
  const home = env['HOME'] || homedir();
  const roots: InstalledFolder[] = [
    { source: 'system', dir: '/etc/portolan' },
    { source: 'user', dir: join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'portolan') },
    ...(workspaceDir === null ? [] : [{ source: 'workspace' as const, dir: join(workspaceDir, 'config') }]),
  ];
  return foldersBelow(roots);
}

/** Folders of a tenant's own graphs and profiles, in addition to the shared ones. */
export function tenantFolders(workspaceDir: string, tenant: string): InstalledFolders {
  return foldersBelow([{ source: 'tenant', dir: join(workspaceDir, 'tenants', tenant, 'config') }]);
}

function foldersBelow(roots: readonly InstalledFolder[]): InstalledFolders {
  const below = (name: string) => roots.map(({ source, dir }) => ({ source, dir: join(dir, name) }));
  return { dags: below('dags'), profiles: below('profiles'), rules: below('rules') };
}

export interface FolderListing {
  /** Paths, sorted by name. */
  files: string[];
  problems: string[];
}

/** The YAML and JSON files of a folder; none if it does not exist. */
export async function listInstalled(dir: string): Promise<FolderListing> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { files: [], problems: [] };
    return { files: [], problems: [`${dir}: cannot read the folder: ${reasonOf(error)}`] };
  }
  const fitting = names.filter((name) => /^[^.].*\.(?:ya?ml|json)$/.test(name)).sort();
  const files = fitting.slice(0, maxInstalledFiles).map((name) => join(dir, name));
  const left = fitting.length - files.length;
  const problems = left > 0 ? [`${dir}: more than ${maxInstalledFiles} files; ${left} were skipped`] : [];
  return { files, problems };
}

/** Whether these folders contain no files and no problems. */
export async function areEmpty(folders: readonly InstalledFolders[]): Promise<boolean> {
  const dirs = folders.flatMap(({ dags, profiles }) => [...dags, ...profiles]);
  const listings = await Promise.all(dirs.map(({ dir }) => listInstalled(dir)));
  return listings.every(({ files, problems }) => files.length === 0 && problems.length === 0);
}

/**
 * The content of a file; of one larger than `maxBytes`, just enough to detect that.
 * @throws PortolanError `usage` if it is unreadable, not UTF-8 or not a regular file
 */
export async function readInstalled(file: string, maxBytes: number): Promise<string> {
  try {
    // Opening a pipe without a writer must not block.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new PortolanError('usage', `${file}: not a regular file`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw new PortolanError('usage', `${file}: cannot be read: ${reasonOf(error)}`, {}, error);
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file',
  EACCES: 'not permitted',
  ENOTDIR: 'not a folder',
  EISDIR: 'is a folder',
  ELOOP: 'too many symbolic links',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'not UTF-8 text',
};

function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return reasons[code] ?? code;
}

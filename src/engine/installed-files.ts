import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PortolanError } from '../domain/errors.ts';

/** Most files that are read of one folder; further ones are reported and left out. */
export const maxInstalledFiles = 200;

/** Where a graph or a profile comes from. */
export type InstalledSource = 'builtin' | 'system' | 'user' | 'workspace' | 'tenant' | 'file';

export interface InstalledFolder {
  source: InstalledSource;
  dir: string;
}

/** Where people install graphs and profiles; of two with one name the later one holds. */
export interface InstalledFolders {
  dags: InstalledFolder[];
  profiles: InstalledFolder[];
}

/** @param workspaceDir null when nothing is kept */
export function installedFolders(workspaceDir: string | null, env: NodeJS.ProcessEnv): InstalledFolders {
  const home = env['HOME'] || homedir();
  const roots: InstalledFolder[] = [
    { source: 'system', dir: '/etc/portolan' },
    { source: 'user', dir: join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'portolan') },
    ...(workspaceDir === null ? [] : [{ source: 'workspace' as const, dir: join(workspaceDir, 'config') }]),
  ];
  return foldersBelow(roots);
}

/** Where a tenant has graphs and profiles of its own, beside those of everybody. */
export function tenantFolders(workspaceDir: string, tenant: string): InstalledFolders {
  return foldersBelow([{ source: 'tenant', dir: join(workspaceDir, 'tenants', tenant, 'config') }]);
}

function foldersBelow(roots: readonly InstalledFolder[]): InstalledFolders {
  const below = (name: string) => roots.map(({ source, dir }) => ({ source, dir: join(dir, name) }));
  return { dags: below('dags'), profiles: below('profiles') };
}

export interface FolderListing {
  /** Paths, in the order of their names. */
  files: string[];
  problems: string[];
}

/** The YAML and JSON files of a folder; a folder that is not there has none. */
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

/** Whether there is nothing in these folders, and nothing to say of them. */
export async function areEmpty(folders: readonly InstalledFolders[]): Promise<boolean> {
  const dirs = folders.flatMap(({ dags, profiles }) => [...dags, ...profiles]);
  const listings = await Promise.all(dirs.map(({ dir }) => listInstalled(dir)));
  return listings.every(({ files, problems }) => files.length === 0 && problems.length === 0);
}

/**
 * The text of a file; of one that is larger than `maxBytes` as much as shows that it is.
 * @throws PortolanError `usage` when it cannot be read, is not UTF-8 or no file
 */
export async function readInstalled(file: string, maxBytes: number): Promise<string> {
  try {
    // A pipe that nobody writes to must not hold up whoever lists the folder.
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

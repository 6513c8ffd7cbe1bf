import { PortolanError } from '../domain/errors.ts';
import { maxPluginFiles, pathProblem } from './manifest.ts';

/** An entry of an archive, as the archive says it. */
export interface ArchiveEntry {
  name: string;
  /** `file`, `directory`, or what no package may have. */
  type?: string;
}

/** Names of an archive so far; files and folders, compared without case. */
export class ArchiveNames {
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, string>();
  #count = 0;

  /** @returns whether it is a file @throws PortolanError for an entry that no package may have */
  add({ name, type = 'file' }: ArchiveEntry): boolean {
    // Folders count, too: as many as files at most, and the manifest.
    if (++this.#count > 2 * maxPluginFiles + 1)
      throw packageRefused(`more than ${2 * maxPluginFiles + 1} entries`);
    if (type !== 'file' && type !== 'directory')
      throw packageRefused(`"${name.slice(0, 80)}" is neither a file nor a folder (${type})`);
    const path = type === 'file' ? plainName(name) : plainName(name).replace(/\/$/, '');
    if (type === 'directory' && (path === '' || path === '.')) return false;
    const problem = pathProblem(path);
    if (problem) throw packageRefused(`"${name.slice(0, 80)}" ${problem}`);
    this.#addFolders(type === 'file' ? path.split('/').slice(0, -1) : path.split('/'), path);
    if (type === 'directory') return false;
    const key = path.toLowerCase();
    if (this.#files.has(key)) throw packageRefused(`"${path}" is in it twice, or with another case`);
    if (this.#folders.has(key)) throw packageRefused(`"${path}" is both a file and a folder`);
    this.#files.add(key);
    return true;
  }

  #addFolders(segments: readonly string[], of: string): void {
    for (let depth = 1; depth <= segments.length; depth++) {
      const folder = segments.slice(0, depth).join('/');
      const key = folder.toLowerCase();
      if (this.#files.has(key)) throw packageRefused(`"${folder}" is both a file and a folder`);
      const known = this.#folders.get(key) ?? folder;
      if (known !== folder) throw packageRefused(`"${of}" differs from "${known}" in case only`);
      this.#folders.set(key, folder);
    }
  }
}

/** The name as `tar -C folder .` writes it, without the leading `./`. */
export function plainName(name: string): string {
  return name.replace(/^\.\//, '');
}

export function packageRefused(reason: string, cause?: unknown): PortolanError {
  return new PortolanError('configuration', `plugin package refused: ${reason}`, {}, cause);
}

import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import type { ScanOptions, ScanRequest } from '../domain/scan.ts';
import { diskError, folderMode, isMissing, syncFolder, writeFileAtomic } from './atomic-file.ts';
import { isNoPlainFile, isPlainFolder, readPlainText } from './plain-file.ts';

/** Folders under this prefix are being deleted; a crash may leave one behind. */
export const deletedPrefix = '.deleted-';

/** `request.json`: the validated submission, with the options of the scan in one object. */
interface RequestFile extends Omit<ScanRequest, 'created_at' | 'vuln' | 'rate' | 'ports' | 'options'> {
  /** When the scan was submitted, ISO 8601 UTC. */
  timestamp: string;
  options: Omit<ScanOptions, 'discover'> & {
    discover: boolean | null;
    vuln: boolean;
    rate: ScanRequest['rate'];
    ports: string | null;
  };
}

/** The folder of one scan, `scans/<scan_id>/`. */
export class ScanFolder {
  readonly path: string;
  readonly reportsDir: string;

  constructor(path: string) {
    this.path = path;
    this.reportsDir = join(path, 'reports');
  }

  /**
   * Creates the folder and writes `request.json`; after that the submission is durable.
   * @throws PortolanError `conflict` if the scan already has a folder
   */
  async create(request: ScanRequest): Promise<void> {
    try {
      await mkdir(this.path, { mode: folderMode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new PortolanError('conflict', `The scan ${basename(this.path)} already exists.`, {}, error);
      }
      throw diskError(error);
    }
    try {
      await mkdir(this.reportsDir, { mode: folderMode });
      await this.writeRequest(request);
      await syncFolder(dirname(this.path));
    } catch (error) {
      await rm(this.path, { recursive: true, force: true });
      throw diskError(error);
    }
  }

  /** @throws PortolanError `not_found` without `request.json`, `internal_error` if it is damaged */
  async request(): Promise<ScanRequest> {
    const text = await this.#requestText();
    try {
      return fromFile(JSON.parse(text) as RequestFile);
    } catch (error) {
      const message = `request.json of scan ${basename(this.path)} is damaged.`;
      throw new PortolanError('internal_error', message, {}, error);
    }
  }

  async #requestText(): Promise<string> {
    try {
      return await readPlainText(this.#file('request.json'));
    } catch (error) {
      if (isMissing(error)) throw new PortolanError('not_found', 'There is no such scan.', {}, error);
      throw error;
    }
  }

  /** Replaces `request.json`, e.g. a damaged one. */
  async writeRequest(request: ScanRequest): Promise<void> {
    await writeFileAtomic(this.#file('request.json'), jsonFile(toFile(request)));
  }

  /** Whether there is a readable `status.json`. */
  async hasStatus(): Promise<boolean> {
    return (await this.#status()) !== null;
  }

  /** The state in `status.json`; null if unreadable. */
  async storedState(): Promise<unknown> {
    return (await this.#status())?.['state'] ?? null;
  }

  async #status(): Promise<Record<string, unknown> | null> {
    try {
      const status: unknown = JSON.parse(await readPlainText(this.#file('status.json')));
      return typeof status === 'object' ? (status as Record<string, unknown> | null) : null;
    } catch (error) {
      if (isMissing(error) || isNoPlainFile(error) || error instanceof SyntaxError) return null;
      throw error;
    }
  }

  /** Links in the folder, relative to it: they are never followed. */
  async links(): Promise<string[]> {
    const entries = await readdir(this.path, { withFileTypes: true, recursive: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => relative(this.path, join(entry.parentPath, entry.name)));
  }

  /** Whether the folder is a link. */
  async isLink(): Promise<boolean> {
    return (await lstat(this.path).catch(nullIfMissing))?.isSymbolicLink() ?? false;
  }

  /** Replaces `status.json`. */
  async writeStatus(status: object): Promise<void> {
    await writeFileAtomic(this.#file('status.json'), jsonFile(status));
  }

  /** Deletes report files; the record stays. */
  async removeReports(): Promise<void> {
    for (const name of (await readdir(this.reportsDir).catch(nullIfMissing)) ?? [])
      await rm(join(this.reportsDir, name), { recursive: true, force: true });
  }

  async exists(): Promise<boolean> {
    return await isPlainFolder(this.path);
  }

  /** Deletes the folder with everything in it. It disappears atomically; a missing one is not an error. */
  async remove(): Promise<void> {
    const doomed = await this.retire();
    if (doomed !== null) await this.removeRetired(doomed);
  }

  /** Deletes what `retire` has renamed. */
  async removeRetired(place: string): Promise<void> {
    await syncFolder(dirname(this.path));
    await rm(place, { recursive: true, force: true });
  }

  /**
   * Renames the folder to hide it; afterwards sync its parent and delete it.
   * @returns its new path, or null if it does not exist
   */
  async retire(): Promise<string | null> {
    const doomed = this.#retiredPath;
    try {
      await rename(this.path, doomed);
      return doomed;
    } catch (error) {
      if (isMissing(error)) return null;
      // Left over from an earlier deletion of the same scan.
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      await rm(doomed, { recursive: true, force: true });
      return await this.retire();
    }
  }

  /** Whether a deletion is in progress, or was interrupted. */
  async isRetired(): Promise<boolean> {
    return (await lstat(this.#retiredPath).catch(nullIfMissing)) !== null;
  }

  get #retiredPath(): string {
    return join(dirname(this.path), `${deletedPrefix}${basename(this.path)}`);
  }

  /** Bytes of all files; 0 for a missing folder. */
  async sizeBytes(): Promise<number> {
    return await sizeOfTree(this.path);
  }

  #file(name: string): string {
    return join(this.path, name);
  }
}

function jsonFile(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function toFile(request: ScanRequest): RequestFile {
  const { created_at, vuln, rate, ports, options, ...same } = request;
  const discover = options.discover ?? null;
  return { ...same, timestamp: created_at, options: { ...options, discover, vuln, rate, ports } };
}

function fromFile(file: RequestFile): ScanRequest {
  const { timestamp, options, ...same } = file;
  const { vuln, rate, ports, discover, ...others } = options;
  return {
    ...same,
    created_at: timestamp,
    vuln,
    rate,
    ports,
    options: discover === null ? others : { ...others, discover },
  };
}

/** Files may vanish meanwhile; counts links without following them. */
async function sizeOfTree(path: string): Promise<number> {
  const entry = await lstat(path).catch(nullIfMissing);
  if (entry === null) return 0;
  if (!entry.isDirectory()) return entry.size;
  let bytes = 0;
  for (const name of (await readdir(path).catch(nullIfMissing)) ?? [])
    bytes += await sizeOfTree(join(path, name));
  return bytes;
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

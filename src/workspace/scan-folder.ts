import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import type { ScanOptions, ScanRequest } from '../domain/scan.ts';
import { diskError, folderMode, isMissing, syncFolder, writeFileAtomic } from './atomic-file.ts';
import { isNoPlainFile, isPlainFolder, readPlainText } from './plain-file.ts';

/** Folders under this prefix are being deleted; a crash may leave one behind. */
export const deletedPrefix = '.deleted-';

/** `request.json`: the submission as decided, options of the scan in one object. */
interface RequestFile extends Omit<ScanRequest, 'created_at' | 'vuln' | 'rate' | 'ports' | 'options'> {
  /** When the scan was submitted, ISO 8601 UTC. */
  timestamp: string;
  options: Omit<ScanOptions, 'discover'> & {
    discover: boolean | null;
    vuln: boolean;
    rate: number;
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
   * Makes the folder and writes `request.json`; after that the submission is durable.
   *
   * @throws PortolanError `conflict` when the scan has a folder already
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

  /** @throws PortolanError `not_found` without `request.json`, `internal_error` when it is damaged */
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

  /** Whether there is a `status.json` that can be read. */
  async hasStatus(): Promise<boolean> {
    return (await this.#status()) !== null;
  }

  /** The state that `status.json` names; null without a readable one. */
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

  /** Names in the folder that are links, relative to it: they are not followed. */
  async links(): Promise<string[]> {
    const entries = await readdir(this.path, { withFileTypes: true, recursive: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => relative(this.path, join(entry.parentPath, entry.name)));
  }

  /** Whether a link is in the place of the folder. */
  async isLink(): Promise<boolean> {
    return (await lstat(this.path).catch(nullIfMissing))?.isSymbolicLink() ?? false;
  }

  /** Replaces `status.json`. */
  async writeStatus(status: object): Promise<void> {
    await writeFileAtomic(this.#file('status.json'), jsonFile(status));
  }

  /** Deletes what reporters wrote; the record stays. */
  async removeReports(): Promise<void> {
    for (const name of (await readdir(this.reportsDir).catch(nullIfMissing)) ?? [])
      await rm(join(this.reportsDir, name), { recursive: true, force: true });
  }

  async exists(): Promise<boolean> {
    return await isPlainFolder(this.path);
  }

  /** Deletes the folder with everything in it. Gone at once for everybody; a missing one is no error. */
  async remove(): Promise<void> {
    const doomed = await this.retire();
    if (doomed !== null) await this.removeRetired(doomed);
  }

  /** Deletes what `retire` has set aside. */
  async removeRetired(place: string): Promise<void> {
    await syncFolder(dirname(this.path));
    await rm(place, { recursive: true, force: true });
  }

  /**
   * Gives the folder a name under which nobody finds it; what is left is to sync its parent and to delete it.
   * @returns where it is now, or null when there is none
   */
  async retire(): Promise<string | null> {
    const doomed = this.#retiredPath;
    try {
      await rename(this.path, doomed);
      return doomed;
    } catch (error) {
      if (isMissing(error)) return null;
      // What an earlier deletion of the same scan left.
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      await rm(doomed, { recursive: true, force: true });
      return await this.retire();
    }
  }

  /** Whether a deletion is under way, or was broken off. */
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

/** Files may vanish while the walk goes on; links are counted, not followed. */
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

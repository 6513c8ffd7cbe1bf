import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { fileMode, folderMode, isMissing, syncFolder, writeFully } from '../atomic-file.ts';
import { filePieces } from './file-pieces.ts';
import { type ObjectContent, type ObjectStore, storeAway } from './object-store.ts';

/** Folder of objects before they get their names; on the same file system, so that a rename suffices. */
const drafts = '.incoming';
/** An older draft is left over from a dead process, milliseconds. */
const abandonedMs = 24 * 3_600_000;

/** Attempts to place an object while others remove its folder. */
const mostTries = 10;

/** A directory shared by all servers, such as an NFS mount. */
export class DirectoryStore implements ObjectStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Whether objects can be stored there. The directory itself is never created: it may be a missing mount point.
   * @throws PortolanError `configuration`
   */
  async check(): Promise<void> {
    try {
      if (!(await lstat(join(this.#root, '.'))).isDirectory()) throw rejection('is not a directory');
      await mkdir(join(this.#root, drafts), { recursive: true, mode: folderMode });
      const draft = this.#draft();
      await (await open(draft, 'wx', fileMode)).close();
      await rm(draft);
      await this.#sweepDrafts();
    } catch (error) {
      if (error instanceof PortolanError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (isMissing(error)) throw rejection('is missing', error);
      if (code === 'ENOTDIR') throw rejection('is not a directory', error);
      throw rejection(`is not writable (${code})`, error);
    }
  }

  async put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void> {
    const draft = this.#draft();
    try {
      await mkdir(dirname(draft), { recursive: true, mode: folderMode });
      await this.#write(draft, content, signal);
      await this.#place(draft, this.#path(name));
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw away(error);
    }
  }

  async #write(draft: string, content: ObjectContent, signal?: AbortSignal): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(draft, flags, fileMode);
    try {
      let position = 0;
      for await (const piece of content.bytes()) {
        signal?.throwIfAborted();
        await writeFully(file, piece, position);
        position += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Removing the last object of a folder removes the folder too, possibly at the same time. */
  async #place(draft: string, path: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const first = await mkdir(dirname(path), { recursive: true, mode: folderMode });
        await rename(draft, path);
        return await this.#syncUpTo(dirname(path), first === undefined ? dirname(path) : dirname(first));
      } catch (error) {
        // Node says ENOTDIR where a parent that it found is gone when it looks at it.
        const isGone = isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR';
        if (!isGone || tries === mostTries) throw error;
      }
    }
  }

  /** Makes an object durable with its new folders; not needed if it was removed again. */
  async #syncUpTo(from: string, last: string): Promise<void> {
    try {
      await syncFolder(from);
      for (let folder = from; folder !== last && folder.length > last.length; ) {
        folder = dirname(folder);
        await syncFolder(folder);
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async read(name: string, _size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    try {
      const file = await open(this.#path(name), flags);
      return piecesOf(file, signal);
    } catch (error) {
      if (!isMissing(error)) throw away(error);
      await this.#demandRoot();
      return null;
    }
  }

  async remove(name: string): Promise<void> {
    const path = this.#path(name);
    try {
      await rm(path);
      await syncFolder(dirname(path));
    } catch (error) {
      if (!isMissing(error)) throw away(error);
      await this.#demandRoot();
    }
    await this.#removeEmpty(dirname(path));
  }

  /** A lost mount looks like a directory without objects. */
  async #demandRoot(): Promise<void> {
    await lstat(join(this.#root, drafts)).catch((error: unknown) => {
      throw storeAway('is not reachable: its directory is missing', error);
    });
  }

  /** Removes empty folders. */
  async #removeEmpty(folder: string): Promise<void> {
    for (let path = folder; path.length > this.#root.length; path = dirname(path)) {
      const removed = await rmdir(path).then(
        () => true,
        (error: unknown) => isMissing(error),
      );
      if (!removed) return;
    }
  }

  async #sweepDrafts(): Promise<void> {
    const folder = join(this.#root, drafts);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const entry = await lstat(path).catch(() => null);
      if (entry && Date.now() - entry.mtimeMs > abandonedMs) await rm(path, { force: true });
    }
  }

  #draft(): string {
    return join(this.#root, drafts, randomBytes(12).toString('hex'));
  }

  #path(name: string): string {
    return join(this.#root, ...name.split('/'));
  }
}

async function* piecesOf(file: FileHandle, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of filePieces(file)) {
      signal?.throwIfAborted();
      yield piece;
    }
  } catch (error) {
    throw away(error);
  }
}

/** Maps a system error about the directory to the error for clients; any other error unchanged. */
function away(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof PortolanError || syscall === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') return storeAway('is full', error);
  return storeAway(`cannot be used (${code})`, error);
}

function rejection(reason: string, cause?: unknown): PortolanError {
  return new PortolanError(
    'configuration',
    `workspace.result_store.url: the directory ${reason}.`,
    {},
    cause,
  );
}

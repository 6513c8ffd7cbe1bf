import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskError, fileMode, folderMode, writeFully } from '../atomic-file.ts';
import {
  contentsName,
  contentsText,
  damagedManifest,
  manifestName,
  manifestText,
  maxResultManifestBytes,
  type ResultManifest,
  readContents,
  readManifestNames,
  readResultManifest,
  type StoredFile,
} from './manifest.ts';
import type { NamedContent, ObjectStore } from './object-store.ts';
import { checked, type FoundFile, filesOf, textContent } from './stored-files.ts';

/** Owner of the results. */
export interface StoredScanLocation {
  scanId: string;
  /** Null without tenants. */
  tenant: string | null;
}

/** An attempt to store a scan. */
export interface StoreAttempt {
  signal?: AbortSignal | undefined;
  /** Called before anything is stored, with the names of what may be there from now on, also if the attempt fails. */
  onNames?: ((names: readonly string[]) => void) | undefined;
}

/** Stands for no tenant in names. */
export const noTenant = '_';
/** Concurrent transfers per scan. */
const maxTransfers = 8;

/**
 * Finished scans outside the workspaces of the servers, each under `<tenant>/<scan_id>/` (`_` without tenants): every
 * file of its folder as an object, sealed by a manifest. Interrupted operations can be repeated by any server.
 */
export class ResultStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /**
   * Stores the files of a finished scan; a sealed one stays unchanged.
   * @throws PortolanError `unavailable`, or `not_found` if there is no folder
   */
  async keep(place: StoredScanLocation, folder: string, attempt: StoreAttempt = {}): Promise<void> {
    if (!(await this.isSealed(place, attempt.signal))) await this.replace(place, folder, attempt);
  }

  async isSealed(place: StoredScanLocation, signal?: AbortSignal): Promise<boolean> {
    return (await this.#text(place, manifestName, signal)) !== null;
  }

  /**
   * Stores the files of a scan that nobody reads yet, instead of what an earlier attempt has stored.
   * @param isFirst no attempt was earlier
   */
  async replace(
    place: StoredScanLocation,
    folder: string,
    { isFirst = false, ...attempt }: StoreAttempt & { isFirst?: boolean } = {},
  ): Promise<void> {
    const { signal } = attempt;
    const files = await filesOf(folder, signal);
    const names = new Set(files.map(({ file }) => file.name));
    // Objects of an earlier attempt that the folder no longer has, e.g. the plain form of a compressed record.
    const earlier = isFirst ? [] : await this.#contents(place, signal);
    const leftovers = earlier.filter((name) => !names.has(name));
    await this.#seal(place, files, leftovers, attempt);
  }

  /**
   * Copies a stored scan to another store, unless that has it.
   * @throws PortolanError `unavailable`, or `internal_error` if it is damaged or missing here
   */
  async copyTo(target: ResultStore, place: StoredScanLocation, attempt: StoreAttempt = {}): Promise<void> {
    const { signal } = attempt;
    const { files } = await this.manifest(place, signal);
    // An earlier copy may have been sealed although no response said so.
    if ((await target.#text(place, manifestName, signal)) === manifestText(place.scanId, files)) return;
    const bytesOf = (file: StoredFile) => this.#bytesOf(place, file, signal);
    const stored = files.map((file) => ({
      file,
      content: {
        ...file,
        async *bytes() {
          yield* await bytesOf(file);
        },
      },
    }));
    await target.#seal(place, stored, [], attempt);
  }

  async #seal(
    place: StoredScanLocation,
    files: readonly FoundFile[],
    leftovers: readonly string[],
    { signal, onNames }: StoreAttempt,
  ): Promise<void> {
    const names = [...files.map(({ file }) => file.name), ...leftovers];
    const contents = namedText(place, contentsName, contentsText(names));
    onNames?.(names);
    const sealing = manifestText(
      place.scanId,
      files.map(({ file }) => file),
    );
    const manifest = namedText(place, manifestName, sealing);
    const stored = files.map(({ file, content }) => ({ name: pathOf(place, file.name), content }));
    if (leftovers.length === 0 && this.#takesAtOnce([contents, ...stored, manifest]))
      return await this.#objects.putAll?.([contents, ...stored, manifest], signal);
    await this.#put(contents, signal);
    await eachOf(stored, (object) => this.#put(object, signal));
    await eachOf(leftovers, (name) => this.#objects.remove(pathOf(place, name), signal));
    await this.#put(manifest, signal);
  }

  #takesAtOnce(objects: readonly NamedContent[]): boolean {
    const bytes = objects.reduce((sum, { content }) => sum + content.size, 0);
    return bytes <= (this.#objects.maxAtOnce ?? -1);
  }

  /** @throws PortolanError `unavailable`, or `internal_error` if it is missing or damaged */
  async manifest(place: StoredScanLocation, signal?: AbortSignal): Promise<ResultManifest> {
    const text = await this.#text(place, manifestName, signal);
    if (text === null) throw damagedManifest(place.scanId, 'their manifest is missing');
    return readResultManifest(text, place.scanId);
  }

  /**
   * Writes files of a stored scan below a folder, verified against the manifest.
   * @throws PortolanError `unavailable`, `insufficient_storage`, or `internal_error` for a file that is missing or
   * differs
   */
  async fetch(
    place: StoredScanLocation,
    files: readonly StoredFile[],
    folder: string,
    signal?: AbortSignal,
  ): Promise<void> {
    await eachOf(files, (file) => this.#fetchFile(place, file, folder, signal));
  }

  async #fetchFile(
    place: StoredScanLocation,
    file: StoredFile,
    folder: string,
    signal?: AbortSignal,
  ): Promise<void> {
    try {
      await writeNew(join(folder, file.name), () => this.#bytesOf(place, file, signal));
    } catch (error) {
      throw diskError(error);
    }
  }

  /** Verified while they are read. */
  async #bytesOf(
    place: StoredScanLocation,
    file: StoredFile,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const other = () => damagedManifest(place.scanId, `${file.name} differs from what was stored`);
    const found = await this.#objects.read(pathOf(place, file.name), file.size, signal);
    if (found === null) throw damagedManifest(place.scanId, `${file.name} is missing`);
    return checked(found, file, other);
  }

  /**
   * Removes a scan, the manifest first; idempotent.
   *
   * @param known names of files that may be there although nothing lists them
   * @throws PortolanError `unavailable`
   */
  async remove(place: StoredScanLocation, known: readonly string[] = []): Promise<void> {
    const listed = await this.#listed(place);
    // A manifest that another server writes at this moment stays: without it nobody would find the files.
    if (listed === null && known.length === 0) return;
    const names = new Set([...(listed ?? []), ...known]);
    await this.#objects.remove(pathOf(place, manifestName));
    await eachOf([...names], (name) => this.#objects.remove(pathOf(place, name)));
    await this.#objects.remove(pathOf(place, contentsName));
  }

  /** See `ResultRemover`. */
  async removeLate(place: StoredScanLocation): Promise<void> {
    await this.remove(place);
  }

  /**
   * The names of the files; null if nothing lists any. Contents are missing where one server has removed them before another
   * one sealed.
   */
  async #listed(place: StoredScanLocation): Promise<string[] | null> {
    const contents = await this.#text(place, contentsName);
    if (contents !== null) return readContents(contents);
    const manifest = await this.#text(place, manifestName);
    return manifest === null ? null : readManifestNames(manifest);
  }

  async #contents(place: StoredScanLocation, signal?: AbortSignal): Promise<string[]> {
    return readContents((await this.#text(place, contentsName, signal)) ?? '');
  }

  async #put({ name, content }: NamedContent, signal?: AbortSignal): Promise<void> {
    await this.#objects.put(name, content, signal);
  }

  async #text(place: StoredScanLocation, name: string, signal?: AbortSignal): Promise<string | null> {
    const bytes = await this.#objects.read(pathOf(place, name), 0, signal);
    if (bytes === null) return null;
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      size += piece.length;
      if (size > maxResultManifestBytes) throw damagedManifest(place.scanId, `${name} is too large`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  }
}

function pathOf({ scanId, tenant }: StoredScanLocation, name: string): string {
  return `${tenant ?? noTenant}/${scanId}/${name}`;
}

function namedText(place: StoredScanLocation, name: string, text: string): NamedContent {
  return { name: pathOf(place, name), content: textContent(text) };
}

async function writeNew(path: string, bytes: () => Promise<AsyncIterable<Uint8Array>>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: folderMode });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, fileMode);
  try {
    let position = 0;
    for await (const piece of await bytes()) {
      await writeFully(file, piece, position);
      position += piece.length;
    }
  } finally {
    await file.close();
  }
}

/** Applies an action to all, some at a time; throws the first error once none is in progress. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let fault: { error: unknown } | null = null;
  const lane = async () => {
    for (const item of left) {
      if (fault !== null) return;
      await work(item).catch((error: unknown) => {
        fault ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxTransfers, items.length) }, lane));
  if (fault !== null) throw (fault as { error: unknown }).error;
}

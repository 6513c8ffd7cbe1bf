import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { listInstalled, maxInstalledFiles, readInstalled } from '../../engine/graph/installed-files.ts';
import { installedName } from '../../engine/graph/profile-file.ts';
import { folderMode, isMissing, syncFolder, writeFileAtomic } from '../../workspace/atomic-file.ts';

/** An installed graph or profile. */
export interface InstalledEntry {
  name: string;
  source: string;
  file: string;
  text: string;
}

/** The files of installed graphs or profiles that clients may write: those of their tenant. */
export interface OwnFiles {
  /** `graph` or `profile`, for messages. */
  what: string;
  dir: string;
  /** `InstalledSource` of the folder. */
  source: 'workspace' | 'tenant';
  maxBytes: number;
  find(name: string): InstalledEntry | undefined;
}

/** Identifies a version of an entry; the value of its ETag without the quotes. */
export function versionOf({ text }: Pick<InstalledEntry, 'text'>): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** @throws PortolanError `not_found` */
export function requireEntry<E>(what: string, entry: E | undefined): E {
  if (entry) return entry;
  throw new PortolanError('not_found', `There is no such ${what}.`);
}

/** @throws PortolanError `invalid_request`, `conflict` for a name that clients may not write */
export function checkWritable(files: OwnFiles, name: string): void {
  if (!installedName.test(name)) {
    const reason = 'must be 1 to 64 of a-z, 0-9, _ and -, and start with a letter or digit';
    throw invalidRequest(`name ${reason}`, [{ field: 'name', reason }]);
  }
  if (files.find(name)?.source !== 'builtin') return;
  throw new PortolanError('conflict', `The ${files.what} ${name} is builtin; choose another name.`);
}

/**
 * Creates or replaces the file of an entry. Its text must be valid.
 * @param version that the client has seen (`*` = any); null = the client creates the entry
 * @throws PortolanError `conflict` if the entry has another version now, `insufficient_storage`
 */
export async function writeOwn(
  files: OwnFiles,
  name: string,
  text: string,
  version: string | null,
): Promise<void> {
  const entry = files.find(name);
  checkVersion(files, entry, name, version);
  const own = entry?.source === files.source ? entry : null;
  if (own) await checkUntouched(files, own);
  const file = own?.file ?? (await newFile(files, name));
  await writeFileAtomic(file, text);
}

/** @param version as of `writeOwn`; null = any @throws PortolanError `conflict` */
export async function deleteOwn(files: OwnFiles, name: string, version: string | null): Promise<void> {
  const own = requireOwn(files, name);
  if (version !== null) checkVersion(files, own, name, version);
  await checkUntouched(files, own);
  await rm(own.file, { force: true });
  await syncFolder(dirname(own.file));
}

/** @throws PortolanError `not_found`, or `conflict` for an entry that is no file of the client's tenant */
export function requireOwn(files: OwnFiles, name: string): InstalledEntry {
  const entry = requireEntry(files.what, files.find(name));
  if (entry.name === name && entry.source === files.source) return entry;
  const reason =
    entry.source === 'builtin' ? 'is builtin' : 'was installed by the operator, in a folder of the server';
  throw new PortolanError('conflict', `The ${files.what} ${name} ${reason}: it cannot be deleted here.`);
}

function checkVersion(
  { what, source }: OwnFiles,
  entry: InstalledEntry | undefined,
  name: string,
  version: string | null,
): void {
  if (!entry) {
    if (version === null) return;
    throw new PortolanError(
      'conflict',
      `There is no ${what} ${name} any more; send no If-Match to create it.`,
    );
  }
  const current = versionOf(entry);
  if (version === '*' || version === current) return;
  // An entry of the operator may be overridden without having been read.
  if (version === null && entry.source !== source) return;
  const advice = version === null ? 'send If-Match with its ETag to replace it' : 'it has changed since';
  throw new PortolanError('conflict', `The ${what} ${name} exists: ${advice}.`, { etag: `"${current}"` });
}

/** Edits on the disk that are not in force yet must not be lost. */
async function checkUntouched(
  { what, maxBytes }: OwnFiles,
  { name, file, text }: InstalledEntry,
): Promise<void> {
  const found = await readInstalled(file, maxBytes).catch(() => null);
  if (found === null || found === text) return;
  const message = `The file of the ${what} ${name} was changed on the server and is not in force yet; reload the server first.`;
  throw new PortolanError('conflict', message);
}

/** @throws PortolanError `conflict` if the folder has no room, or a file of that name */
async function newFile({ what, dir }: OwnFiles, name: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: folderMode });
  const { files } = await listInstalled(dir);
  if (files.length >= maxInstalledFiles) {
    throw new PortolanError(
      'conflict',
      `There are ${maxInstalledFiles} files of a ${what} already; delete one first.`,
    );
  }
  const file = join(dir, `${name}.yaml`);
  const exists = await stat(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  if (!exists) return file;
  const message = `The file ${name}.yaml on the server holds something else, or is invalid; the log of the server says what.`;
  throw new PortolanError('conflict', message);
}

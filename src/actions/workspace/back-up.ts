import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { TarPackController } from 'modern-tar';
import { PortolanError } from '../../domain/errors.ts';
import { backUpStore } from '../../store/sqlite/backup.ts';
import { diskError, fileMode, syncFolder } from '../../workspace/atomic-file.ts';
import { type PackedFile, packFile, packFolder, packText, tarBytes } from '../../workspace/render/archive.ts';

/** Last entry of a backup: what it has, with checksums. */
export const backupManifestFile = 'backup.json';
export const backupFormat = 1;

export interface BackupManifest {
  format: number;
  /** Version of the program that made it. */
  version: string;
  /** ISO 8601 UTC. */
  created_at: string;
  /** `postgresql` = the store is not in the backup. */
  store: 'sqlite' | 'postgresql';
  files: PackedFile[];
}

export interface BackupSource {
  workspace: string;
  /** Null with PostgreSQL. */
  storeFile: string | null;
  /** Folder of installed plugins. */
  plugins: string;
  /** Files and folders of the configuration, with absolute paths; those that are missing are left out. */
  configuration: readonly string[];
  version: string;
}

/** Of the workspace: what is made anew, belongs to a running process, or is saved otherwise. */
const skipped =
  /^workspace\/(?:(?:cache|backups|logs|worker)$|workspace\.lock|\.workspace\.guard|reserve$|service\.db|\.restore-|tenants\/[^/]+\/cache$)/;

/**
 * Writes a backup as tar.gz, also while a server runs: a snapshot of the store first, then each record up to its last whole row.
 * @throws PortolanError `usage` if the file exists, `insufficient_storage`
 */
export async function backUp(file: string, source: BackupSource): Promise<BackupManifest> {
  if (existsSync(file)) throw new PortolanError('usage', `${file} exists; a backup replaces no file`);
  const draft = `${file}.part`;
  const manifest: BackupManifest = {
    format: backupFormat,
    version: source.version,
    created_at: new Date().toISOString(),
    store: source.storeFile === null ? 'postgresql' : 'sqlite',
    files: [],
  };
  try {
    const out = createWriteStream(draft, { flags: 'wx', mode: fileMode, flush: true });
    await pipeline(
      Readable.from(tarBytes((controller) => packAll(controller, source, manifest))),
      createGzip(),
      out,
    );
    await rename(draft, file);
    await syncFolder(dirname(file));
    return manifest;
  } catch (error) {
    await rm(draft, { force: true });
    throw diskError(error);
  }
}

async function packAll(
  controller: TarPackController,
  { workspace, storeFile, plugins, configuration }: BackupSource,
  manifest: BackupManifest,
): Promise<void> {
  const options = {
    skips: (name: string) => skipped.test(name),
    packed: (file: PackedFile) => manifest.files.push(file),
  };
  if (storeFile !== null) {
    const folder = await backUpStore(storeFile, `archive-${process.pid}`);
    await packFile(controller, join(folder, 'service.db'), 'workspace/service.db', options);
    await rm(folder, { recursive: true });
  }
  await packFolder(controller, workspace, 'workspace', options);
  if (!plugins.startsWith(`${workspace}/`)) await packFolder(controller, plugins, 'plugins', options);
  for (const path of configuration) {
    await packFolder(controller, path, `files${path}`, options);
    await packFile(controller, path, `files${path}`, options);
  }
  await packText(controller, backupManifestFile, JSON.stringify(manifest));
}

/** `workspace/scans/X/results.jsonl` -> `X` */
export function scansOf({ files }: BackupManifest): number {
  const folders = files.map(
    ({ name }) => /^workspace\/(?:tenants\/[^/]+\/)?scans\/([^/]+)\//.exec(name)?.[1],
  );
  return new Set(folders.filter((name) => name !== undefined)).size;
}

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { backUp, scansOf } from '../../actions/workspace/back-up.ts';
import { restoreBackup } from '../../actions/workspace/restore-backup.ts';
import { type LoadedConfig, pluginsFolder, userFile } from '../../config/load.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { readConfig } from '../session/session.ts';
import { isConfirmed } from '../terminal/confirm.ts';
import { bytesText, countText } from '../terminal/draw/amounts.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';

interface BackupFlags {
  format: string;
}

export async function backUpCommand(
  file: string,
  { format }: BackupFlags,
  global: GlobalFlags,
  { version }: CliWiring,
): Promise<void> {
  const loaded = await readConfig(global);
  const { config } = loaded;
  const workspace = await openWorkspace(config.workspace.dir);
  const isShared = config.queue.url !== null;
  const path = resolve(file);
  const manifest = await backUp(path, {
    workspace: workspace.dir,
    storeFile: isShared ? null : workspace.storeFile,
    plugins: pluginsFolder(config),
    configuration: configurationOf(loaded),
    version,
  });
  const facts = { file: path, size_bytes: statSync(path).size, scans: scansOf(manifest), ...manifest };
  if (format === 'json') print(printableJson(facts));
  else {
    const parts = [countText(facts.scans, 'scan'), countText(manifest.files.length, 'file')];
    print(`${printable(path)}  ${bytesText(facts.size_bytes)}: ${parts.join(', ')}\n`);
  }
  if (isShared) note('the store is in PostgreSQL (queue.url) and not in this file: save it with pg_dump');
}

/** Folders and files of the configuration, and the keys that it names. */
function configurationOf({ config, file, alertFiles }: LoadedConfig): string[] {
  const { server, alerts, license } = config;
  const named = [file, alerts.file, license.file, server.tls.cert_file, server.tls.key_file, ...alertFiles];
  const folders = ['/etc/portolan', dirname(userFile(process.env))];
  const files = named
    .filter((path): path is string => typeof path === 'string' && path !== '')
    .map((path) => resolve(path))
    .filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)));
  return [...folders, ...new Set(files)];
}

interface RestoreFlags extends BackupFlags {
  withConfig?: boolean;
  force?: boolean;
}

/** @returns 0, or 1 when the restored workspace has damage that stays */
export async function restoreCommand(
  file: string,
  { format, withConfig = false, force = false }: RestoreFlags,
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  if (!force && !(await isConfirmed(`Replace the workspace ${printable(dir)}`, 'replace'))) return 1;
  const target = { workspace: dir, plugins: pluginsFolder(config), withConfiguration: withConfig };
  const report = await restoreBackup(resolve(file), target);
  const { manifest, before, written, left, check } = report;
  if (format === 'json')
    print(printableJson({ ...report, manifest: { ...manifest, files: manifest.files.length } }));
  else {
    const { created_at, version, files } = manifest;
    print(`${countText(files.length, 'file')} of ${created_at} (version ${version}) checked and restored\n`);
    if (before !== null) print(`before  ${printable(before)}\n`);
    for (const path of written) print(`wrote   ${printable(path)}\n`);
    for (const path of left) print(`left    ${printable(path)}: in the backup, not written\n`);
  }
  if (manifest.store === 'postgresql') note('restore the PostgreSQL database too (pg_restore)');
  return check !== null && check.left > 0 ? 1 : 0;
}

import { type ImportedPath, importVulndb } from '../../actions/catalogs/import-vulndb.ts';
import { stateOf } from '../../actions/catalogs/show-vulndb.ts';
import { type SyncedSource, syncVulndb } from '../../actions/catalogs/sync-vulndb.ts';
import { exportBundle, importBundle, isBundle } from '../../actions/catalogs/vulndb-bundle.ts';
import {
  type SyncSource,
  syncSources,
  throughProxy,
  vulndbSources,
} from '../../actions/catalogs/vulndb-sources.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import type { GenerationManifest } from '../../knowledge/vulndb/generation/manifest.ts';
import { vulndbFolder } from '../../scan-run/catalogs/vulndb-folder.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { readConfig } from '../session/session.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { printFacts } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

export interface ImportFlags {
  replace?: boolean;
  format: string;
}

export interface VulndbSyncFlags {
  source: string;
  since?: string;
  force?: boolean;
  format: string;
}

/** Writes the data into a bundle. */
export async function exportVulndb(path: string, _flags: object, global: GlobalFlags): Promise<void> {
  const { config } = await readConfig(global);
  const manifest = await exportBundle(vulndbFolder(config), path);
  if (manifest === null)
    throw new PortolanError('not_found', 'No data to export: run portolan vulndb sync first.');
  print(stateLine(manifest));
}

async function importOneBundle(
  path: string,
  { replace = false, format }: ImportFlags,
  config: Config,
): Promise<void> {
  const workspace = await openWorkspace(config.workspace.dir);
  const manifest = await recordChange(
    { config, workspace },
    { operation: 'vulndb.import', details: { bundle: true, replace } },
    () => importBundle(vulndbFolder(config), path, replace),
    ({ generation, counts }) => ({ id: generation, details: { cves: counts.cves } }),
  );
  print(format === 'json' ? printableJson({ ...stateOf(manifest), imported: [] }) : stateLine(manifest));
}

export async function importFiles(paths: string[], flags: ImportFlags, global: GlobalFlags): Promise<void> {
  const { config } = await readConfig(global);
  checkKept(config);
  const [first = ''] = paths;
  if (await isBundle(first)) {
    if (paths.length > 1) throw usage('a bundle is imported alone: it replaces all data');
    return importOneBundle(first, flags, config);
  }
  const workspace = await openWorkspace(config.workspace.dir);
  const dir = vulndbFolder(config);
  const { manifest, imported } = await recordChange(
    { config, workspace },
    { operation: 'vulndb.import', details: { paths: paths.length, replace: flags.replace ?? false } },
    () => importVulndb({ dir, paths, replace: flags.replace ?? false }),
    ({ manifest: { generation, counts } }) => ({ id: generation, details: { cves: counts.cves } }),
  );
  for (const path of imported) tellRefused(path.path, path);
  if (flags.format === 'json') print(printableJson({ ...stateOf(manifest), imported }));
  else print(`${imported.map(importedLine).join('')}${stateLine(manifest)}`);
}

/** @returns 0, or 4 when a source could not be fetched */
export async function syncVulndbCommand(flags: VulndbSyncFlags, global: GlobalFlags): Promise<number> {
  const { config } = await readConfig(global);
  checkKept(config);
  const sources = readSources(flags.source);
  const workspace = await openWorkspace(config.workspace.dir);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once('SIGINT', onSignal);
  try {
    const { manifest, synced } = await recordChange(
      { config, workspace },
      { operation: 'vulndb.sync', details: { sources } },
      () =>
        throughProxy(() =>
          syncVulndb({
            dir: vulndbFolder(config),
            urls: vulndbSources(config),
            nvdApiKey: config.vulndb.nvd_api_key,
            sources,
            since: flags.since ?? null,
            force: flags.force ?? false,
            signal: stop.signal,
            onProgress: (text) => {
              if (!global.quiet) note(printable(text));
            },
          }),
        ),
      (report) => ({
        id: report.manifest?.generation ?? null,
        details: { outcomes: report.synced.map(({ source, status }) => `${source} ${status}`) },
      }),
    );
    for (const outcome of synced) tellOutcome(outcome);
    const current = manifest ?? readCurrentManifest(vulndbFolder(config));
    if (flags.format === 'json') print(printableJson({ ...stateOf(current), synced }));
    else print(`${synced.map(syncedLine).join('')}${current ? stateLine(current) : ''}`);
    return synced.some(({ status }) => status === 'failed') ? 4 : 0;
  } finally {
    process.off('SIGINT', onSignal);
  }
}

export async function showVulndbStats({ format }: { format: string }, global: GlobalFlags): Promise<void> {
  const { config } = await readConfig(global);
  const manifest = readCurrentManifest(vulndbFolder(config));
  const state = stateOf(manifest);
  if (format === 'json') {
    const { counts, sources, distributions, synced_at } = manifest ?? {};
    const details = { last_sync: synced_at ?? null, counts, source_states: sources, distributions };
    print(printableJson({ ...state, ...(manifest && details) }));
    return;
  }
  const facts: [string, string][] = [
    ['catalog', state.catalogue_version],
    ['CVEs', String(state.cve_count)],
    ['withdrawn CVEs', String(manifest?.counts.rejected ?? 0)],
    ['products', String(manifest?.counts.products ?? 0)],
    ['known exploited (KEV)', String(state.kev_count)],
    ['EPSS scores', String(state.epss_count)],
    ['distribution fixes', String(state.fix_count)],
    ['last import or sync', state.synced_at ?? '-'],
    ...Object.entries(manifest?.sources ?? {}).map(([name, { updated_at, data_date }]): [string, string] => [
      `source ${name}`,
      `${updated_at}${data_date === null ? '' : `, data of ${data_date}`}`,
    ]),
    ...(manifest?.distributions ?? []).map(({ distribution, release, statements }): [string, string] => [
      `${distribution} ${release}`,
      countText(statements, 'statement'),
    ]),
  ];
  printFacts(facts, global);
  for (const notice of state.notices) note(notice);
  if (state.lacks !== null) note(state.lacks);
}

/** Rejects an import whose data would be lost when the command ends. */
function checkKept({ workspace, vulndb }: Config): void {
  if (workspace.enabled || vulndb.dir !== '') return;
  throw usage('no workspace to store the data: set vulndb.dir');
}

function readSources(list: string): SyncSource[] {
  const names = list.split(',').map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !syncSources.some((source) => source === name));
  if (unknown !== undefined) {
    throw usage(`--source: unknown source ${JSON.stringify(unknown)} (${syncSources.join(', ')})`);
  }
  return syncSources.filter((source) => names.includes(source));
}

function tellRefused(name: string, { refused, reasons }: Pick<ImportedPath, 'refused' | 'reasons'>): void {
  if (refused === 0) return;
  note(`warning: ${printable(name)}: ${countText(refused, 'record')} rejected`);
  for (const reason of reasons) note(`  ${printable(reason)}`);
}

function tellOutcome(outcome: SyncedSource): void {
  tellRefused(outcome.source, outcome);
  if (outcome.error !== null) note(`portolan: ${printable(outcome.error)}; keeping its old data`);
}

function importedLine({ path, formats, files, skipped, accepted }: ImportedPath): string {
  const from = files === 1 && skipped === 0 ? '' : ` from ${countText(files, 'file')}, ${skipped} skipped`;
  return `${printable(path)}: ${countText(accepted, 'record')} (${formats.join(', ')})${from}\n`;
}

function syncedLine({ source, status, accepted }: SyncedSource): string {
  return `${source}: ${status}${status === 'updated' ? `, ${countText(accepted, 'record')}` : ''}\n`;
}

function stateLine({ generation, counts: { cves, kev, epss, fixes } }: GenerationManifest): string {
  return `${generation}: ${cves} CVEs, ${kev} known exploited, ${epss} EPSS scores, ${fixes} distribution fixes\n`;
}

import { open } from 'node:fs/promises';
import {
  type InstalledReport,
  installFingerprints,
  nameOfFile,
  removeFingerprints,
} from '../../actions/catalogs/install-fingerprints.ts';
import {
  type FingerprintStatistics,
  findSignature,
  fingerprintStatistics,
  type ListedSignature,
  listSignatures,
  type SampleReport,
  trySample,
} from '../../actions/catalogs/list-fingerprints.ts';
import { checkRules, readRulePath } from '../../actions/catalogs/read-rule-feed.ts';
import { type FingerprintSyncReport, syncFingerprints } from '../../actions/catalogs/sync-fingerprints.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { builtinRules } from '../../knowledge/rules/rule-catalog.ts';
import type { Signature } from '../../knowledge/signatures/signature.ts';
import { type LoadedFingerprints, loadFingerprints } from '../../scan-run/catalogs/load-fingerprints.ts';
import type { SetHeader } from '../../workspace/fingerprint-sets.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { readConfig, readConfigQuietly } from '../session/session.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { drawTable, renderRows } from '../terminal/draw/columns.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf, type TerminalStyle } from '../terminal/draw/style.ts';
import { whenText } from '../terminal/draw/times.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

/** Maximum bytes of a sample to read: more than any rule inspects. */
const maxSampleBytes = 1024 * 1024;

export interface FingerprintListFlags {
  category?: string;
  search?: string;
  format: string;
}

export interface FingerprintSyncFlags {
  url?: string;
  file?: string;
  force?: boolean;
  format: string;
}

export async function listFingerprintSets(flags: FingerprintListFlags, global: GlobalFlags): Promise<void> {
  const listed = listSignatures(await inForce(global), flags);
  if (flags.format === 'json') {
    print(printableJson({ signatures: listed.map(rowOf), total: listed.length }));
    return;
  }
  if (flags.format === 'csv') {
    const rows = listed.map(({ set, signature }) => [
      signature.id,
      set,
      signature.category ?? '-',
      signature.source,
      signature.service ?? '-',
      signature.product ?? '-',
      String(signature.certainty),
    ]);
    print(renderRows(csvTitles, rows));
    return;
  }
  printTable(
    [
      { head: 'ID', cell: ({ signature }) => signature.id },
      { head: 'SET', cell: ({ set }) => set },
      { head: 'CATEGORY', cell: ({ signature }) => signature.category ?? null },
      { head: 'EVIDENCE', cell: ({ signature }) => signature.source },
      { head: 'SERVICE', cell: ({ signature }) => signature.service ?? null },
      { head: 'PRODUCT', cell: ({ signature }) => signature.product ?? null, over: 'end' },
      { head: 'CERTAINTY', cell: ({ signature }) => signature.certainty.toFixed(2), right: true },
    ],
    listed,
    global,
    [
      ['PRODUCT', 16],
      ['SET', 0],
      ['CATEGORY', 0],
      ['EVIDENCE', 0],
    ],
  );
}

const csvTitles = ['id', 'set', 'category', 'evidence', 'service', 'product', 'certainty'];

/** Columns of a rule in the list; `show` prints all. */
function rowOf({ set, signature }: ListedSignature): Record<string, unknown> {
  const {
    id,
    description = null,
    category = null,
    tags = [],
    service,
    source,
    product,
    vendor,
    certainty,
  } = signature;
  return { id, set, description, category, tags, service, source, product, vendor, certainty };
}

export async function showFingerprintSet(
  id: string,
  { format }: { format: string },
  global: GlobalFlags,
): Promise<void> {
  const found = findSignature(await inForce(global), id);
  if (found.length === 0)
    throw new PortolanError('not_found', `no rule "${id}"; see: portolan fingerprint list`);
  print(
    format === 'json'
      ? printableJson({ rules: found.map(({ set, signature }) => ({ set, ...signature })) })
      : found.map(ruleText).join('\n'),
  );
}

function ruleText({ set, signature }: ListedSignature): string {
  const { examples, ...fields } = signature;
  const facts = [['set', set], ...Object.entries(fields).map(([name, value]) => [name, textOf(value)])];
  const width = Math.max(...facts.map(([name = '']) => name.length));
  const lines = facts.map(([name = '', value = '']) => `${name.padEnd(width)}  ${printable(value)}\n`);
  const shown = examples.map(({ text, ...values }) => {
    const expected = Object.keys(values).length > 0 ? `  gives ${JSON.stringify(values)}` : '';
    return `example ${printable(JSON.stringify(text))}${printable(expected)}\n`;
  });
  return [...lines, ...shown].join('');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === null ? '-' : JSON.stringify(value);
}

export async function showFingerprintStats(
  { format }: { format: string },
  global: GlobalFlags,
): Promise<void> {
  const found = fingerprintStatistics(await inForce(global));
  print(
    format === 'json'
      ? printableJson(found)
      : statisticsText(found, styleOf(process.stdout, global), Date.now()),
  );
}

function statisticsText(found: FingerprintStatistics, style: TerminalStyle, now: number): string {
  const sets = drawTable(
    [
      { head: 'SET', cell: ({ name }) => name },
      { head: 'ORIGIN', cell: ({ origin }) => origin },
      { head: 'RULES', cell: ({ signatures }) => signatures },
      { head: 'INSTALLED', cell: ({ installed_at: at }) => (at === null ? null : whenText(at, now)) },
      { head: 'SOURCE', cell: ({ source }) => source, over: 'middle' },
    ],
    found.sets,
    style,
    [['SOURCE', 20]],
  );
  const counted = (head: string, counts: Record<string, number>) =>
    drawTable<[string, number]>(
      [
        { head, cell: ([name]) => name },
        { head: 'RULES', cell: ([, number]) => number },
      ],
      Object.entries(counts),
      style,
    );
  const total = `catalog ${printable(found.catalogue_version)}: ${countText(found.signatures, 'rule')} for ${countText(found.products, 'product')}`;
  return [
    `${total}, ${amountText(found.with_cpe)} with a CPE, ${countText(found.examples, 'example')}\n`,
    sets,
    counted('CATEGORY', found.by_category),
    counted('EVIDENCE', found.by_evidence),
  ].join('\n');
}

export async function validate(file: string, { format }: { format: string }): Promise<void> {
  const { files, examples, signatures } = await checkRules(await readRulePath(file));
  if (format === 'json')
    print(printableJson({ valid: true, files, signatures: signatures.length, examples }));
  else
    print(
      `${printable(file)}: ${countText(signatures.length, 'rule')}, ${countText(examples, 'example')}, all valid\n`,
    );
}

/** @returns 1 when nothing matches */
export async function tryRules(
  rules: string,
  sample: string,
  flags: { evidence?: string; format: string },
  global: GlobalFlags,
): Promise<number> {
  const signatures = await rulesOf(rules, global);
  const report = trySample(signatures, await readSample(sample), flags.evidence ?? null);
  print(
    flags.format === 'json' ? printableJson(report) : sampleText(report, styleOf(process.stdout, global)),
  );
  if (report.matches.length > 0) return 0;
  const keys = Object.keys(report.evidence).join(', ') || 'nothing';
  note(`no rule matches; evidence in the sample: ${printable(keys)}`);
  return 1;
}

async function rulesOf(rules: string, global: GlobalFlags): Promise<readonly Signature[]> {
  if (rules === 'builtin') return builtinRules.signatures;
  if (rules === 'installed') return (await inForce(global)).catalogue.signatures;
  return (await checkRules(await readRulePath(rules))).signatures;
}

async function readSample(sample: string): Promise<Buffer> {
  try {
    await using file = sample === '-' ? null : await open(sample, 'r');
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of file?.createReadStream({ autoClose: false }) ?? process.stdin) {
      parts.push(Buffer.from(part as Uint8Array));
      size += (part as Uint8Array).length;
      if (size >= maxSampleBytes) break;
    }
    return Buffer.concat(parts).subarray(0, maxSampleBytes);
  } catch (error) {
    throw usage(
      `cannot read the sample ${sample}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
    );
  }
}

function sampleText({ matches }: SampleReport, style: TerminalStyle): string {
  if (matches.length === 0) return '';
  return drawTable(
    [
      { head: 'RULE', cell: ({ rule }) => rule },
      { head: 'EVIDENCE', cell: ({ evidence }) => evidence },
      { head: 'SERVICE', cell: ({ service }) => service ?? null },
      { head: 'PRODUCT', cell: ({ product }) => product ?? null, over: 'end' },
      { head: 'VERSION', cell: ({ version }) => version ?? null, over: 'end' },
      { head: 'CERTAINTY', cell: ({ certainty }) => certainty.toFixed(2), right: true },
      { head: 'CPE', cell: ({ cpe }) => cpe ?? null },
    ],
    matches,
    style,
    [
      ['PRODUCT', 12],
      ['VERSION', 8],
    ],
  );
}

interface InstallFlags {
  name?: string;
  force?: boolean;
  format: string;
}

export function addFingerprintSet(file: string, flags: InstallFlags, global: GlobalFlags): Promise<void> {
  return install([file], 'added', flags, global);
}

export function importFingerprintSet(
  files: string[],
  flags: InstallFlags,
  global: GlobalFlags,
): Promise<void> {
  return install(files, 'imported', flags, global);
}

async function install(
  paths: readonly string[],
  origin: 'added' | 'imported',
  flags: InstallFlags,
  global: GlobalFlags,
): Promise<void> {
  const { config, workspace } = await openLocalScanStore(global);
  const order = { paths, name: flags.name ?? nameOfFile(paths[0] ?? ''), force: flags.force ?? false };
  const operation = origin === 'added' ? 'fingerprint.add' : 'fingerprint.import';
  const report = await recordChange(
    { config, workspace },
    { operation, id: order.name },
    () => installFingerprints(workspace.dir, order, origin),
    ({ set }) => ({ details: detailsOf(set) }),
  );
  print(
    flags.format === 'json' ? printableJson(report) : installedText(report, styleOf(process.stdout, global)),
  );
}

function detailsOf({ signatures, sha256, source }: SetHeader): Record<string, unknown> {
  return { source, signatures, sha256 };
}

function installedText({ set, files, examples }: InstalledReport, style: TerminalStyle): string {
  const table = drawTable(
    [
      { head: 'FILE', cell: ({ file }) => file },
      { head: 'RULES', cell: ({ signatures }) => signatures },
    ],
    files,
    style,
  );
  return `${table}set ${printable(set.name)}: ${countText(set.signatures, 'rule')} active, ${countText(examples, 'example')} tested\n`;
}

export async function removeFingerprintSet(name: string, _flags: object, global: GlobalFlags): Promise<void> {
  const { config, workspace } = await openLocalScanStore(global);
  await recordChange({ config, workspace }, { operation: 'fingerprint.remove', id: name }, () =>
    removeFingerprints(workspace.dir, name),
  );
  if (!global.quiet) note(`set ${printable(name)} removed`);
}

export async function syncFingerprintSets(flags: FingerprintSyncFlags, global: GlobalFlags): Promise<void> {
  if (flags.url !== undefined && flags.file !== undefined) throw usage('--url and --file exclude each other');
  if (flags.url !== undefined && !/^https?:\/\//i.test(flags.url))
    throw usage('--url must be an http or https URL');
  const { config, workspace } = await openLocalScanStore(global);
  const { url, file, force = false } = flags;
  const report = await recordChange(
    { config, workspace },
    { operation: 'fingerprint.sync' },
    () => syncFingerprints(config, { url, file, force }),
    ({ state, source, set }) => ({ details: { state, source, sha256: set?.sha256 ?? null } }),
  );
  print(flags.format === 'json' ? printableJson(report) : syncText(report));
}

function syncText({ state, source, checked_at, set }: FingerprintSyncReport): string {
  const rules = set === null ? 'no rules' : countText(set.signatures, 'rule');
  const states = {
    updated: `updated: ${rules} from ${source}`,
    unchanged: `unchanged: ${rules} from ${source}`,
    fresh: `up to date: ${rules} from ${source}, fetched ${checked_at ?? ''}; --force fetches them again`,
  };
  return `${printable(states[state])}\n`;
}

/** The workspace that stores sets. @throws PortolanError `usage` with --no-workspace */
async function openLocalScanStore(global: GlobalFlags): Promise<{ config: Config; workspace: Workspace }> {
  const { config } = await readConfig(global);
  if (!config.workspace.enabled) throw usage('rules are stored in the workspace: omit --no-workspace');
  return { config, workspace: await openWorkspace(config.workspace.dir) };
}

/** Every active rule; sets that cannot be used are reported on stderr. */
async function inForce(global: GlobalFlags): Promise<LoadedFingerprints> {
  const { config } = await readConfigQuietly(global);
  const loaded = await loadFingerprints(config);
  for (const problem of loaded.problems) note(`warning: skipped: ${printable(problem)}`);
  return loaded;
}

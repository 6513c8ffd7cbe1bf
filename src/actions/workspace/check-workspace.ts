import { lstat, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { isFinal, scanIdPattern } from '../../domain/scan.ts';
import { tenantPattern } from '../../domain/tenant.ts';
import { concludeScan } from '../../scan-run/finalize/finalize-scan.ts';
import { storeFaults } from '../../store/integrity.ts';
import type { Store } from '../../store/open.ts';
import type { DatedScan } from '../../store/scans/scan-ages.ts';
import { restoreAdvice } from '../../store/sqlite/backup.ts';
import { makePrivate, openModes } from '../../workspace/file-modes.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { deletedPrefix, type ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { checkScan, linkFinding, readRequest, type ScanFault } from './check-scan.ts';

export interface CheckedProblem {
  /** Relative to the workspace. */
  path: string;
  problem: string;
  remedy: string;
  fixed: boolean;
}

export interface CheckReport {
  /** Number of checked scans. */
  scans: number;
  /** At most the first 1,000. */
  problems: CheckedProblem[];
  /** All problems, including those beyond the first 1,000. */
  found: number;
  fixed: number;
  /** Unrepaired problems. */
  left: number;
}

export interface CheckContext {
  store: Store;
  workspace: Workspace;
  /** A server uses the workspace: its pending writes and deletions are not problems. */
  served: boolean;
}

/** Maximum number of listed problems; all are counted. */
const maxReported = 1000;

/**
 * Checks the whole workspace, including every byte of the results, and repairs what can be repaired without losing a
 * result. A damaged entry does not stop the check.
 */
export async function checkWorkspace(context: CheckContext, fix: boolean): Promise<CheckReport> {
  const report: CheckReport = { scans: 0, problems: [], found: 0, fixed: 0, left: 0 };
  for await (const finding of findings(context, report)) {
    const fixed = fix && (await repaired(finding));
    report.found++;
    if (fixed) report.fixed++;
    else report.left++;
    const { path, problem, remedy } = finding;
    if (report.problems.length < maxReported) report.problems.push({ path, problem, remedy, fixed });
  }
  return report;
}

async function repaired(finding: ScanFault): Promise<boolean> {
  if (!finding.repair) return false;
  try {
    await finding.repair();
    return true;
  } catch (error) {
    finding.remedy = `repair failed: ${reasonOf(error)}`;
    return false;
  }
}

/** System messages contain paths, so only the code is reported. */
function reasonOf(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  return (error as NodeJS.ErrnoException).code ?? 'an unknown error';
}

async function* findings(context: CheckContext, report: CheckReport): AsyncGenerator<ScanFault> {
  const { store, workspace } = context;
  const storeFile = workspace.storeFile;
  const faults = storeFaults(storeFile);
  for (const fault of faults) {
    yield {
      path: 'service.db',
      problem: `is damaged according to SQLite: ${fault}`,
      remedy: `${restoreAdvice(storeFile)}; results are files and are not affected`,
    };
  }
  yield* checkModes(workspace);
  // Without its list, every scan would look like one too many, or one that has lost its folder.
  if (faults.length > 0) return;
  const listed = new Set<string>();
  for await (const scan of store.scanAges.newestFirst()) {
    listed.add(scan.scan_id);
    report.scans++;
    yield* checkListed(context, scan);
  }
  yield* checkFolders(context, listed);
}

async function* checkModes({ dir }: Workspace): AsyncGenerator<ScanFault> {
  for await (const path of openModes(dir)) {
    yield {
      path: relative(dir, path),
      problem: 'is accessible to other users',
      remedy: '--fix removes their permissions',
      repair: () => makePrivate(path),
    };
  }
}

async function* checkListed(context: CheckContext, scan: DatedScan): AsyncGenerator<ScanFault> {
  const { store, workspace, served } = context;
  if (served && !isFinal(scan.status)) return;
  const folder = workspace.forTenant(scan.tenant).scan(scan.scan_id);
  const path = relative(workspace.dir, folder.path);
  try {
    if (await folder.exists()) yield* checkScan(store, folder, scan, path);
    else if (await folder.isLink()) yield linkFinding(path);
    else if (await store.scans.get(scan.scan_id)) yield* missingFolder(store, scan, path);
  } catch (error) {
    yield {
      path,
      problem: `cannot be read (${reasonOf(error)})`,
      remedy: 'check the permissions and the disk',
    };
  }
}

async function* missingFolder(
  store: Store,
  { scan_id, status }: DatedScan,
  path: string,
): AsyncGenerator<ScanFault> {
  // It is read from the result store.
  if ((await store.scans.storedAt(scan_id)) !== null) return;
  const problem = 'is listed, but its folder with all results is gone';
  if (!isFinal(status)) {
    yield { path, problem, remedy: `delete it: portolan workspace delete ${scan_id} --force` };
    return;
  }
  yield {
    path,
    problem,
    remedy: 'restore the folder from a backup; --fix removes the scan from the list',
    repair: async () => void (await store.scans.delete(scan_id)),
  };
}

/** Entries among the scans that are not listed. */
async function* checkFolders(context: CheckContext, known: ReadonlySet<string>): AsyncGenerator<ScanFault> {
  const { workspace, served } = context;
  for (const { tenant, scans } of await placesOf(workspace)) {
    for (const name of await namesIn(scans)) {
      const path = relative(workspace.dir, join(scans, name));
      if (name.startsWith(deletedPrefix)) {
        if (!served) yield deletion(join(scans, name), path);
      } else if (known.has(name)) {
        // Checked already.
      } else if (!scanIdPattern.test(name) || !(await isFolder(join(scans, name)))) {
        yield { path, problem: 'is not a scan', remedy: 'move it elsewhere' };
      } else if (!(await isListed(context, name, join(scans, name)))) {
        yield await unlisted(context, tenant, name, path);
      }
    }
  }
}

/** A submission creates its folder a moment before the scan is listed. */
const submissionMs = 60_000;

async function isListed({ store }: CheckContext, scanId: string, folder: string): Promise<boolean> {
  const entry = await lstat(folder).catch(() => null);
  if (entry === null || Date.now() - entry.mtimeMs < submissionMs) return true;
  return await store.scans.isTaken(scanId);
}

async function placesOf({ dir }: Workspace): Promise<{ tenant: string | null; scans: string }[]> {
  const tenants = (await namesIn(join(dir, 'tenants'))).filter((name) => tenantPattern.test(name));
  return [
    { tenant: null, scans: join(dir, 'scans') },
    ...tenants.map((tenant) => ({ tenant, scans: join(dir, 'tenants', tenant, 'scans') })),
  ];
}

function deletion(folder: string, path: string): ScanFault {
  return {
    path,
    problem: 'is left over from an interrupted deletion',
    remedy: '--fix removes it, and so does the next start of a server',
    repair: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A folder without a scan in the store. */
async function unlisted(
  context: CheckContext,
  tenant: string | null,
  scanId: string,
  path: string,
): Promise<ScanFault> {
  const folder = context.workspace.forTenant(tenant).scan(scanId);
  const request = await readRequest(folder);
  const problem = 'is not listed in the store';
  if (!(await hasRecord(folder))) {
    return {
      path,
      problem: `${problem} and has no results: an interrupted submission`,
      remedy: '--fix removes it',
      repair: () => folder.remove(),
    };
  }
  if (request === null || request.scan_id !== scanId) {
    return {
      path,
      problem: `${problem}, and its request.json is damaged`,
      remedy: 'move it elsewhere',
    };
  }
  return {
    path,
    problem,
    remedy: '--fix lists it again',
    repair: async () => {
      const store = context.store.forTenant(tenant);
      await store.scans.insert(request);
      await concludeScan({ store, workspace: context.workspace.forTenant(tenant) }, scanId);
    },
  };
}

async function hasRecord(folder: ScanFolder): Promise<boolean> {
  if ((await recordIn(folder).summary()) !== null) return true;
  return (await namesIn(folder.path)).some((name) => name.startsWith('results.jsonl'));
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

/** Names in a folder; none if it does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

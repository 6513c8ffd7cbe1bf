import { lstat, readdir } from 'node:fs/promises';
import { serverOf } from '../../domain/executor.ts';
import { scanIdPattern } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { newestOfAll } from '../../store/scans/age-windows.ts';
import { drafts } from '../../workspace/leftovers.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface FolderComparison {
  /** Number of scan folders not in the store, and the first of them. */
  unlisted: number;
  unlisted_scans: string[];
  /** Number of listed scans without a folder anywhere, and the first of them. */
  missing: number;
  missing_scans: string[];
  /** Removed folders of submissions interrupted by a kill. */
  removed: number;
}

export interface ComparisonInput {
  store: Store;
  workspace: Workspace;
  /** Only older folders may belong to interrupted submissions, milliseconds of the epoch. */
  startedAt: number;
  /** Resolves when the next page may be read; no request waits for one. */
  pause(): Promise<void>;
  signal: AbortSignal;
}

/** Folders looked up per statement. */
const foldersAtOnce = 200;
/** Maximum number of scans named per kind. */
const maxNamed = 10;
/** Maximum number of folders removed per comparison; the others wait for the next one. */
const maxCutOff = 10_000;
/** Longest time between creating the folder and listing the scan, also by a command line. Milliseconds. */
const submissionMs = 10_000;

/**
 * Compares the scan folders with the store, page by page: a store that was restored, replaced or emptied differs.
 * Removes only folders of submissions that were never acknowledged, and those only if nothing else differs.
 * @returns null if aborted
 */
export async function compareFolders(input: ComparisonInput): Promise<FolderComparison | null> {
  const found = new Differences();
  const listedHere = await compareWithStore(input, found);
  if (input.signal.aborted) return null;
  // Each listed scan has its folder: iterating the store would find nothing.
  if (listedHere < (await countHere(input.store))) await findMissing(input, found);
  if (input.signal.aborted) return null;
  return { ...found.report, removed: await removeCutOff(input, found) };
}

interface Candidate {
  scanId: string;
  folder: ScanFolder;
}

class Differences {
  readonly report: Omit<FolderComparison, 'removed'> = {
    unlisted: 0,
    unlisted_scans: [],
    missing: 0,
    missing_scans: [],
  };
  readonly cutOff: Candidate[] = [];

  unlisted(scanId: string): void {
    this.report.unlisted++;
    if (this.report.unlisted_scans.length < maxNamed) this.report.unlisted_scans.push(scanId);
  }

  missing(scanId: string): void {
    this.report.missing++;
    if (this.report.missing_scans.length < maxNamed) this.report.missing_scans.push(scanId);
  }
}

/** @returns number of scans of this server with a folder */
async function compareWithStore(input: ComparisonInput, found: Differences): Promise<number> {
  const { store, workspace, signal, pause } = input;
  let listedHere = 0;
  let page: Candidate[] = [];
  const compare = async () => {
    const listed = await store.scans.ownersOf(page.map(({ scanId }) => scanId));
    for (const candidate of page) {
      const home = listed.get(candidate.scanId);
      if (home === undefined) await sortUnlisted(input, found, candidate);
      else if (home === serverOf(store.executor)) listedHere++;
    }
    page = [];
    await pause();
  };
  for await (const { tenant, name } of workspace.scanEntries()) {
    if (signal.aborted) return listedHere;
    if (!scanIdPattern.test(name)) continue;
    page.push({ scanId: name, folder: workspace.forTenant(tenant).scan(name) });
    if (page.length === foldersAtOnce) await compare();
  }
  await compare();
  return listedHere;
}

async function sortUnlisted(
  { startedAt }: ComparisonInput,
  found: Differences,
  candidate: Candidate,
): Promise<void> {
  const entry = await lstat(candidate.folder.path).catch(() => null);
  // Deleted meanwhile, or a current submission.
  if (entry === null || entry.mtimeMs >= startedAt) return;
  if (!(await isCutOffSubmission(candidate.folder))) found.unlisted(candidate.scanId);
  else if (found.cutOff.length < maxCutOff) found.cutOff.push(candidate);
}

/** Contains only what a submission writes before it lists the scan. */
async function isCutOffSubmission({ path, reportsDir }: ScanFolder): Promise<boolean> {
  const names = await readdir(path).catch(() => ['unreadable']);
  const expected = names.every((name) => ['request.json', 'reports'].includes(name) || drafts.test(name));
  return expected && (await readdir(reportsDir).catch(() => [])).length === 0;
}

async function countHere(store: Store): Promise<number> {
  if (serverOf(store.executor) === null) return (await store.scans.totals()).scan_count;
  return await store.scanAges.countHere();
}

async function findMissing(input: ComparisonInput, found: Differences): Promise<void> {
  const { store, signal, pause } = input;
  const all = new Map((await store.scanAges.tenants()).map((tenant) => [tenant, newestOfAll]));
  let looked = 0;
  for await (const { scan_id, tenant } of store.scanAges.finished(all, { of: 'here' })) {
    if (signal.aborted) return;
    if (++looked % foldersAtOnce === 0) await pause();
    if (await isMissing(input, scan_id, tenant)) found.missing(scan_id);
  }
  for (const scanId of await store.scans.unfinished()) {
    if (signal.aborted) return;
    if (await isMissing(input, scanId, await store.scans.tenantOf(scanId))) found.missing(scanId);
  }
}

async function isMissing(
  { store, workspace }: ComparisonInput,
  scanId: string,
  tenant: string | null,
): Promise<boolean> {
  if (await workspace.forTenant(tenant).scan(scanId).exists()) return false;
  if ((await store.scans.storedAt(scanId)) !== null) return false;
  // Deleted meanwhile.
  return await store.scans.isTaken(scanId);
}

/** A store that lost scans may have lost these too, so they stay. */
async function removeCutOff(
  { store, startedAt, signal }: ComparisonInput,
  { report, cutOff }: Differences,
): Promise<number> {
  let removed = 0;
  if (report.unlisted > 0 || report.missing > 0 || Date.now() < startedAt + submissionMs) return removed;
  for (const { scanId, folder } of cutOff) {
    if (signal.aborted) break;
    if ((await store.scans.isTaken(scanId)) || !(await isCutOffSubmission(folder))) continue;
    await folder.remove();
    removed++;
  }
  return removed;
}

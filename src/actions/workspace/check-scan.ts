import { join } from 'node:path';
import { isFinal, type Scan, type ScanRequest } from '../../domain/scan.ts';
import { provisionalSummary } from '../../scan-run/results/provisional-summary.ts';
import { storedStatus } from '../../scan-run/status.ts';
import type { Store } from '../../store/open.ts';
import type { DatedScan } from '../../store/scans/scan-ages.ts';
import { leftoversOf, removeDrafts } from '../../workspace/leftovers.ts';
import { type RecordFault, recordFaults, repairRecord } from '../../workspace/record/record-check.ts';
import { damagedSummary } from '../../workspace/record/record-finish.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';

/** A problem found by the check. */
export interface ScanFault {
  /** Relative to the workspace. */
  path: string;
  problem: string;
  /** Suggested action. */
  remedy: string;
  /** Repairs it without losing a result; absent if impossible. */
  repair?: () => Promise<void>;
}

/** Describes `--fix`. */
const fix = (what: string) => `--fix ${what}`;

/** Checks the folder of one scan. Of an unfinished scan only its request is checked. */
export async function* checkScan(
  store: Store,
  folder: ScanFolder,
  listed: DatedScan,
  path: string,
): AsyncGenerator<ScanFault> {
  yield* checkLinks(folder, path);
  yield* checkRequest(store, folder, listed.scan_id, path);
  const scan = isFinal(listed.status) ? await store.scans.get(listed.scan_id) : null;
  if (scan === null) return;
  yield* checkStatus(folder, scan, path);
  yield* checkRecord(folder, scan, path);
  yield* checkLeftovers(folder, path);
  yield* checkSize(store, folder, listed, path);
}

async function* checkLinks(folder: ScanFolder, path: string): AsyncGenerator<ScanFault> {
  for (const name of await folder.links()) yield linkFinding(join(path, name));
}

/** A link could point outside the workspace, so links are never followed. */
export function linkFinding(path: string): ScanFault {
  return {
    path,
    problem: 'is a link; links are not followed',
    remedy: 'replace it with what it points to',
  };
}

/** Missing data after a full disk is not damage; a server writes it when there is room. */
function metFullDisk({ error }: Scan): boolean {
  return error?.code === 'insufficient_storage';
}

async function* checkRequest(
  store: Store,
  folder: ScanFolder,
  scanId: string,
  path: string,
): AsyncGenerator<ScanFault> {
  if ((await readRequest(folder)) !== null) return;
  const stored = await store.scans.request(scanId);
  yield {
    path: join(path, 'request.json'),
    problem: 'is missing or damaged',
    remedy: fix('rewrites it from the store'),
    ...(stored && { repair: () => folder.writeRequest(stored) }),
  };
}

/** Null if missing or damaged. */
export async function readRequest(folder: ScanFolder): Promise<ScanRequest | null> {
  return await folder.request().catch(() => null);
}

async function* checkStatus(folder: ScanFolder, scan: Scan, path: string): AsyncGenerator<ScanFault> {
  if (metFullDisk(scan) || (await folder.hasStatus())) return;
  yield {
    path: join(path, 'status.json'),
    problem: 'is missing or damaged',
    remedy: fix('rewrites it from the store'),
    repair: () => folder.writeStatus(storedStatus(scan)),
  };
}

const faultTexts: Record<RecordFault, { problem: string; remedy: string; repairable: boolean }> = {
  missing: {
    problem: 'is missing: the results are lost',
    remedy: 'restore it from a backup, or delete the scan: portolan workspace delete ID',
    repairable: false,
  },
  torn: {
    problem: 'has no end record: it is damaged',
    remedy: fix('ends it after its last complete row; every readable row stays'),
    repairable: true,
  },
  twice: {
    problem: 'exists both plain and compressed: compression was interrupted',
    remedy: fix('keeps the intact one'),
    repairable: true,
  },
  index: {
    problem: 'has lost the index of its rows',
    remedy: fix('rebuilds it'),
    repairable: true,
  },
  damaged: {
    problem: 'has unreadable rows; the others are served',
    remedy: 'restore it from a backup, or scan again',
    repairable: false,
  },
};

async function* checkRecord(folder: ScanFolder, scan: Scan, path: string): AsyncGenerator<ScanFault> {
  for (const fault of await recordFaults(folder)) {
    // A scan canceled while it waited has recorded nothing.
    if (fault === 'missing' && scan.started_at === null) continue;
    if (fault === 'torn' && metFullDisk(scan)) continue;
    const { repairable, ...texts } = faultTexts[fault];
    const summary = provisionalSummary(scan);
    // Rows of a completed scan after the torn end are lost.
    const end = scan.status === 'completed' ? damagedSummary(summary) : summary;
    const repair = () => repairRecord(folder, fault, end);
    yield { path: join(path, 'results.jsonl'), ...texts, ...(repairable && { repair }) };
  }
}

async function* checkLeftovers(folder: ScanFolder, path: string): AsyncGenerator<ScanFault> {
  for (const name of (await leftoversOf(folder)).filter((file) => file !== 'results.jsonl.gz')) {
    yield {
      path: join(path, name),
      problem: 'is left over from a write that a crash interrupted',
      remedy: fix('removes it; nothing uses it'),
      repair: () => removeDrafts(folder, [name]),
    };
  }
}

async function* checkSize(
  store: Store,
  folder: ScanFolder,
  { scan_id, size_bytes }: DatedScan,
  path: string,
): AsyncGenerator<ScanFault> {
  const bytes = await folder.sizeBytes();
  if (bytes === size_bytes) return;
  yield {
    path,
    problem: `takes ${bytes} bytes, but the store has ${size_bytes}`,
    remedy: fix('stores the true size; a running server does so within the hour'),
    // An earlier repair has changed it again.
    repair: async () => void (await store.scans.setSize(scan_id, await folder.sizeBytes())),
  };
}

import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../../store/open.ts';
import type { DatedScan } from '../../store/scans/scan-ages.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Number of scans, and their size as last counted. */
interface Share {
  scans: number;
  bytes: number;
}

export interface WorkspaceStatistics {
  scan_count: number;
  /** ISO 8601 UTC; null without scans. */
  oldest_scan: string | null;
  newest_scan: string | null;
  by_status: Record<string, Share>;
  by_profile: Record<string, Share>;
  /** Bytes on disk by kind, counted now. */
  bytes_by_kind: Record<StoredKind, number>;
  total_bytes: number;
  /** Largest scans first, at most ten. */
  largest: { scan_id: string; bytes: number }[];
  /** Added bytes by month of submission (UTC), oldest first, without what was deleted since. */
  growth: ({ month: string } & Share)[];
}

export type StoredKind =
  | 'results'
  | 'artifacts'
  | 'reports'
  | 'scan_state'
  | 'store'
  | 'backups'
  | 'cache'
  | 'logs'
  | 'audit'
  | 'config'
  | 'other';

/** Number of listed largest scans. */
const listedLargest = 10;

/** Statistics of the workspace. Reads every folder. */
export async function workspaceStatistics(store: Store, workspace: Workspace): Promise<WorkspaceStatistics> {
  const sums = new ScanSums();
  for await (const scan of store.scanAges.newestFirst()) sums.add(scan);
  const kinds = await measureKinds(workspace.dir);
  return {
    ...sums.report(),
    bytes_by_kind: kinds,
    total_bytes: Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0),
  };
}

/** Sums up scans, newest first, in constant memory. */
class ScanSums {
  #count = 0;
  #newest: string | null = null;
  #oldest: string | null = null;
  readonly #byStatus = new Shares();
  readonly #byProfile = new Shares();
  readonly #byMonth = new Shares();
  #largest: DatedScan[] = [];

  add(scan: DatedScan): void {
    this.#count++;
    this.#newest ??= scan.created_at;
    this.#oldest = scan.created_at;
    this.#byStatus.add(scan.status, scan);
    this.#byProfile.add(scan.profile, scan);
    this.#byMonth.add(scan.created_at.slice(0, 7), scan);
    const isLarge = scan.size_bytes > (this.#largest.at(-1)?.size_bytes ?? 0);
    if (this.#largest.length < listedLargest || isLarge)
      this.#largest = [...this.#largest, scan]
        .sort((a, b) => b.size_bytes - a.size_bytes)
        .slice(0, listedLargest);
  }

  report(): Omit<WorkspaceStatistics, 'bytes_by_kind' | 'total_bytes'> {
    return {
      scan_count: this.#count,
      oldest_scan: this.#oldest,
      newest_scan: this.#newest,
      by_status: Object.fromEntries(this.#byStatus.entries()),
      by_profile: Object.fromEntries(this.#byProfile.entries()),
      largest: this.#largest.map(({ scan_id, size_bytes }) => ({ scan_id, bytes: size_bytes })),
      growth: [...this.#byMonth.entries()].toReversed().map(([month, share]) => ({ month, ...share })),
    };
  }
}

class Shares {
  readonly #shares = new Map<string, Share>();

  add(key: string, { size_bytes }: DatedScan): void {
    const share = this.#shares.get(key) ?? { scans: 0, bytes: 0 };
    share.scans += 1;
    share.bytes += size_bytes;
    this.#shares.set(key, share);
  }

  entries(): MapIterator<[string, Share]> {
    return this.#shares.entries();
  }
}

async function measureKinds(dir: string): Promise<Record<StoredKind, number>> {
  const kinds: Record<StoredKind, number> = {
    results: 0,
    artifacts: 0,
    reports: 0,
    scan_state: 0,
    store: 0,
    backups: 0,
    cache: 0,
    logs: 0,
    audit: 0,
    config: 0,
    other: 0,
  };
  for await (const { parts, bytes } of filesBelow(dir, [])) kinds[kindOf(parts)] += bytes;
  return kinds;
}

/** @param parts of the path below the workspace */
function kindOf(parts: string[]): StoredKind {
  // A tenant's part has the same layout as the whole.
  const [first = '', second, third = ''] = parts[0] === 'tenants' ? parts.slice(2) : parts;
  if (first.startsWith('service.db')) return 'store';
  if (first === 'scans' && second !== undefined) return scanKind(third);
  const folders: StoredKind[] = ['reports', 'backups', 'cache', 'logs', 'audit', 'config'];
  return folders.find((folder) => folder === first) ?? 'other';
}

function scanKind(name: string): StoredKind {
  if (name.startsWith('results.')) return 'results';
  return name === 'artifacts' || name === 'reports' ? name : 'scan_state';
}

/** Counts links without following them; skips what vanishes meanwhile. */
async function* filesBelow(
  path: string,
  parts: string[],
): AsyncGenerator<{ parts: string[]; bytes: number }> {
  for (const name of await readdir(path).catch(() => [])) {
    const inner = join(path, name);
    const entry = await lstat(inner).catch(() => null);
    if (entry?.isDirectory()) yield* filesBelow(inner, [...parts, name]);
    else if (entry) yield { parts: [...parts, name], bytes: entry.size };
  }
}

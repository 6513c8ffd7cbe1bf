import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../config/schema.ts';
import { formatDuration, parseDuration } from '../domain/duration.ts';
import { invalidRequest, PortolanError } from '../domain/errors.ts';
import { isFinal } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import type { DatedScan } from '../store/scans.ts';
import { syncFolder } from '../workspace/atomic-file.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ResultRemover } from './delete-scan.ts';

/** What a person asks for; a scan goes when it fails every criterion that is given. */
export interface GarbageRequest {
  /** Retention duration, e.g. `30d`: only scans that were created longer ago. */
  older_than?: string | undefined;
  /** The newest so many scans stay, whatever their age. */
  keep_last?: number | undefined;
  /** Delete nothing, only tell what would go. */
  dry_run?: boolean | undefined;
}

export type Retention = Config['workspace']['retention'];

export interface GarbageReport {
  dry_run: boolean;
  deleted_count: number;
  /** Oldest first. */
  deleted_scans: string[];
  /** Bytes of the files that were deleted. */
  freed_bytes: number;
  kept_count: number;
  errors: { scan_id: string; message: string }[];
  policy: GarbagePolicy;
}

export interface GarbagePolicy {
  older_than: string | null;
  keep_last: number | null;
  /** Present when the configured retention was applied: each is a cap of its own. */
  retention?: { max_age: string | null; max_scans: number | null; min_free_space: number | null };
}

export interface GarbageContext {
  store: Store;
  workspace: Workspace;
  /** The configured retention, for a request without criteria. */
  retention: Retention;
  /** Null without a result store. */
  results: ResultRemover | null;
}

/** One scan by its age: place 0 is the newest of its tenant. */
interface Candidate extends DatedScan {
  place: number;
}

/** Whether a scan has to go, as things are now. */
type Rule = (scan: Candidate, freeBytes: () => Promise<number>) => boolean | Promise<boolean>;

/**
 * Deletes finished scans that are not to be kept, oldest first; scans that wait or run are never touched. A request
 * without criteria applies the configured retention.
 *
 * @throws PortolanError `invalid_request` for a duration that is none
 */
export async function collectGarbage(
  context: GarbageContext,
  request: GarbageRequest,
): Promise<GarbageReport> {
  const { store, workspace } = context;
  const { rule, policy } = decide(context.retention, request);
  const scans = await store.scans.byAge();
  const report: GarbageReport = {
    dry_run: request.dry_run ?? false,
    deleted_count: 0,
    deleted_scans: [],
    freed_bytes: 0,
    kept_count: scans.length,
    errors: [],
    policy,
  };
  if (rule === null) return report;
  // A dry run gains no room, so what it would gain is counted as free.
  const freeBytes = async () => (await workspace.freeBytes()) + (report.dry_run ? report.freed_bytes : 0);
  const batch = new Batch(context, report, dependsOnSpace(policy) ? 1 : scansAtOnce);
  for (const scan of withPlaces(scans).reverse()) {
    if (isFinal(scan.status) && (await rule(scan, freeBytes))) await batch.add(scan);
  }
  await batch.dispose();
  if (!report.dry_run && report.deleted_count > 0) {
    await releasePages(store);
    await workspace.keepReserve();
  }
  return report;
}

/** What was asked for is done, whatever becomes of this. */
async function releasePages(store: Store): Promise<void> {
  await store.releasePages().catch((error: unknown) => {
    if (!(error instanceof PortolanError)) throw error;
  });
}

/** Scans deleted together, by one transaction of the store. */
const scansAtOnce = 64;
/** Folders worked on side by side. */
const foldersAtOnce = 16;

/** Every deletion may be the one that makes enough room. */
function dependsOnSpace({ retention }: GarbagePolicy): boolean {
  return (retention?.min_free_space ?? null) !== null;
}

/** No tenant loses a scan because another one has many. @param scans the newest first */
function withPlaces(scans: readonly DatedScan[]): Candidate[] {
  const counts = new Map<string | null, number>();
  return scans.map((scan) => {
    const place = counts.get(scan.tenant) ?? 0;
    counts.set(scan.tenant, place + 1);
    return { ...scan, place };
  });
}

function decide(retention: Retention, request: GarbageRequest): { rule: Rule | null; policy: GarbagePolicy } {
  const { older_than, keep_last } = request;
  if (older_than !== undefined || keep_last !== undefined) {
    return {
      rule: criteriaRule(older_than, keep_last),
      policy: { older_than: older_than ?? null, keep_last: keep_last ?? null },
    };
  }
  const none = { older_than: null, keep_last: null };
  if (!retention.enabled) return { rule: null, policy: none };
  const { max_age, max_scans, min_free_space } = retention;
  const caps = { max_age: max_age === null ? null : formatDuration(max_age), max_scans, min_free_space };
  return { rule: retentionRule(retention), policy: { ...none, retention: caps } };
}

/** Every criterion that is given has to be failed. */
function criteriaRule(olderThan: string | undefined, keepLast: number | undefined): Rule {
  const before = olderThan === undefined ? null : timeBefore(readAge(olderThan));
  return ({ created_at, place }) =>
    (before === null || created_at < before) && (keepLast === undefined || place >= keepLast);
}

/** Any cap that is broken is enough. */
function retentionRule({ max_age, max_scans, min_free_space }: Retention): Rule {
  const before = max_age === null ? null : timeBefore(max_age);
  return async ({ created_at, place }, freeBytes) => {
    if (before !== null && created_at < before) return true;
    if (max_scans !== null && place >= max_scans) return true;
    return min_free_space !== null && (await freeBytes()) < min_free_space;
  };
}

/** @returns milliseconds */
function readAge(text: string): number {
  const age = parseDuration(text, { retention: true });
  if (age !== null) return age;
  const reason = /\dm(?!o|s)/.test(text)
    ? 'has the unit m, which could be minutes or months; use h, d, w, mo (30 days) or y'
    : 'must be a duration with a unit, such as 30d, 6mo or 1y';
  throw invalidRequest(`older_than ${reason}`, [{ field: 'older_than', reason }]);
}

/** Stored times are ISO 8601 UTC texts, which order like the times. */
function timeBefore(ms: number): string {
  return new Date(Math.max(0, Date.now() - ms)).toISOString();
}

/** A scan that is to go, with its bytes. */
interface Doomed {
  scan_id: string;
  tenant: string | null;
  folder: ScanFolder;
  bytes: number;
}

/** Collects scans and deletes them together. */
class Batch {
  readonly #context: GarbageContext;
  readonly #report: GarbageReport;
  readonly #size: number;
  #scans: DatedScan[] = [];
  /** The result store is away: what is in it stays, and its scans with it. */
  #away: unknown = null;

  constructor(context: GarbageContext, report: GarbageReport, size: number) {
    this.#context = context;
    this.#report = report;
    this.#size = size;
  }

  async add(scan: DatedScan): Promise<void> {
    this.#scans.push(scan);
    if (this.#scans.length >= this.#size) await this.dispose();
  }

  /** The files first: what fails or breaks off then is still listed, and goes the next time. */
  async dispose(): Promise<void> {
    const doomed = await this.#each(this.#scans.splice(0), (scan) => this.#measure(scan));
    const gone = this.#report.dry_run ? doomed : await this.#forget(await this.#remove(doomed));
    for (const { scan_id, bytes } of gone) {
      this.#report.deleted_scans.push(scan_id);
      this.#report.deleted_count++;
      this.#report.kept_count--;
      this.#report.freed_bytes += bytes;
    }
  }

  async #measure({ scan_id, tenant }: DatedScan): Promise<Doomed> {
    const folder = this.#context.workspace.forTenant(tenant).scan(scan_id);
    return { scan_id, tenant, folder, bytes: await folder.sizeBytes() };
  }

  async #remove(doomed: readonly Doomed[]): Promise<Doomed[]> {
    const { results } = this.#context;
    if (results === null) return await this.#removeFolders(doomed);
    const unstored = await this.#each(doomed, async (scan) => {
      await this.#removeStored(results, scan);
      return scan;
    });
    return await this.#removeFolders(unstored);
  }

  /** Where one scan had to wait for the result store, the others need not do so too. */
  async #removeStored(results: ResultRemover, { scan_id, tenant }: Doomed): Promise<void> {
    if (this.#away !== null) throw this.#away;
    try {
      await results.remove({ scanId: scan_id, tenant });
    } catch (error) {
      if (error instanceof PortolanError && error.code === 'unavailable') this.#away = error;
      throw error;
    }
  }

  async #removeFolders(doomed: readonly Doomed[]): Promise<Doomed[]> {
    const retired = await this.#each(doomed, async (scan) => ({
      ...scan,
      place: await scan.folder.retire(),
    }));
    const places = retired.flatMap(({ place }) => place ?? []);
    for (const parent of new Set(places.map(dirname))) await syncFolder(parent);
    return await this.#each(retired, async (scan) => {
      if (scan.place !== null) await rm(scan.place, { recursive: true, force: true });
      return scan;
    });
  }

  async #forget(doomed: readonly Doomed[]): Promise<readonly Doomed[]> {
    const { store } = this.#context;
    const forget = () =>
      store.transaction(async ({ scans }) => {
        for (const { scan_id } of doomed) await scans.delete(scan_id);
      });
    try {
      await this.#withRoom(forget);
      return doomed;
    } catch (error) {
      for (const { scan_id } of doomed) this.#fail(scan_id, error);
      return [];
    }
  }

  /** Who collects on a full disk wants it to be so no longer, and the store needs room to forget. */
  async #withRoom(change: () => Promise<void>): Promise<void> {
    const { store, workspace } = this.#context;
    try {
      await change();
    } catch (error) {
      if (!isFull(error)) throw error;
      await workspace.giveUpReserve();
      await store.emptyLog();
      await change();
    }
  }

  /** Does the same for all, some at a time. @returns what succeeded, in order; the rest is reported */
  async #each<S extends { scan_id: string }, T>(
    scans: readonly S[],
    work: (scan: S) => Promise<T>,
  ): Promise<T[]> {
    const done: T[] = [];
    for (let start = 0; start < scans.length; start += foldersAtOnce) {
      const some = scans.slice(start, start + foldersAtOnce);
      const results = await Promise.allSettled(some.map(work));
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') done.push(result.value);
        else this.#fail((some[index] as S).scan_id, result.reason);
      }
    }
    return done;
  }

  #fail(scanId: string, error: unknown): void {
    this.#report.errors.push({ scan_id: scanId, message: failureText(error) });
  }
}

function isFull(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'insufficient_storage';
}

/** Texts of the system name paths, so only its code is told. */
function failureText(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return `The scan could not be deleted${code ? ` (${code})` : ''}.`;
}

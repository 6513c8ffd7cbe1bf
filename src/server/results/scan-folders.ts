import { PortolanError } from '../../domain/errors.ts';
import { commandLineOf, serverOf } from '../../domain/executor.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { HeldRecord } from '../../workspace/record/scan-record.ts';
import type { FetchedScans, PinnedFolder, ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import type { ServerLog } from '../logging/log.ts';
import type { UnfinishedScans } from './unfinished-scans.ts';

/** Interval of the check for fetched scans without readers. */
const pace = { firstMs: 60_000, betweenMs: 60_000 };

export interface ScanFoldersInput {
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  /** Null without a result store. */
  fetched: FetchedScans | null;
  /** Of other servers; null without them. */
  unfinished: UnfinishedScans | null;
  log: ServerLog;
}

/**
 * Locates the record of a scan: in the workspace; in the result store for a finished scan that another server ran or whose
 * folder was lost; in the database for one that another server runs. Nothing else of a server knows where records lie.
 */
export class ScanFolders {
  readonly #input: ScanFoldersInput;
  readonly #looks: PeriodicTasks;

  constructor(input: ScanFoldersInput) {
    this.#input = input;
    this.#looks = new PeriodicTasks(() => this.#look(), pace);
  }

  async start(): Promise<void> {
    await this.#input.unfinished?.clear();
    if (!this.#input.fetched) return;
    await this.#input.fetched.clear();
    this.#looks.start();
  }

  async close(): Promise<void> {
    await this.#looks.close();
    await this.#input.unfinished?.close();
  }

  /**
   * The record of a scan, held until it is released.
   *
   * @param part artifacts in the result store are only fetched with the whole scan
   * @throws PortolanError `unavailable`, `insufficient_storage`, or `internal_error` for damaged results
   */
  async hold(
    { scan_id, status }: Pick<Scan, 'scan_id' | 'status'>,
    tenant: string | null,
    part: ScanFile = 'record',
  ): Promise<HeldRecord> {
    const { workspace, store } = this.#input;
    const folder = workspace.forTenant(tenant).scan(scan_id);
    const here = { record: recordIn(folder), release: () => undefined };
    if (!isFinal(status))
      return (await this.#isOwn(scan_id)) ? here : await this.#holdRunning(scan_id, tenant, part);
    // A scan that another server has taken over may have left a part of its record here.
    const isOwn = await this.#isOwn(scan_id);
    if (isOwn && (await folder.exists())) return here;
    const { fetched } = this.#input;
    if (fetched && (await store.scans.storedAt(scan_id)) !== null)
      return held(await fetched.hold({ scanId: scan_id, tenant }, part));
    if (isOwn) return here;
    // One that was canceled before it began has no results.
    if ((await store.scans.get(scan_id))?.started_at === null) return held(await this.#copyOf(scan_id));
    throw outOfReach();
  }

  async #isOwn(scanId: string): Promise<boolean> {
    const { store } = this.#input;
    const own = serverOf(store.executor);
    if (own === null) return true;
    const owner = await store.scans.ownerOf(scanId);
    return owner === null || owner === own;
  }

  /** The rows of a scan that another server runs. It may end meanwhile. */
  async #holdRunning(scanId: string, tenant: string | null, part: ScanFile): Promise<HeldRecord> {
    const { store } = this.#input;
    const copy = await this.#copyOf(scanId);
    const scan = await store.scans.get(scanId);
    if (scan === null || !isFinal(scan.status)) return { ...held(copy), lacksEnd: true };
    copy.release();
    return await this.hold(scan, tenant, part);
  }

  /** The rows of a scan in the database. @throws PortolanError `unavailable` if they are on the disk of another server */
  async #copyOf(scanId: string): Promise<PinnedFolder> {
    const { store, unfinished } = this.#input;
    const isCommandLine = commandLineOf((await store.scans.executor(scanId)) ?? '') !== null;
    if (!unfinished || isCommandLine || (await store.shardResults.hasBlocks(scanId)) === false)
      throw outOfReach();
    return await unfinished.hold(scanId);
  }

  /** Also removes scans that another server has deleted. */
  async #look(): Promise<void> {
    const { store, fetched, log } = this.#input;
    try {
      for (const place of fetched?.places ?? [])
        if (!(await store.scans.isTaken(place.scanId))) await fetched?.forget(place);
      await fetched?.sweep();
    } catch (error) {
      log.debug(logReason(error), 'cleaning up fetched scans failed, retrying');
    }
  }
}

function held({ folder, release }: PinnedFolder): HeldRecord {
  return { record: recordIn(folder), release };
}

/** A command line scans, an earlier version has divided the scan, or its results could not be stored yet. */
function outOfReach(): PortolanError {
  const message = 'The results of the scan are on the machine that runs it, and not yet in the result store.';
  return new PortolanError('unavailable', message);
}

import type { Kysely } from 'kysely';
import { serverOf } from '../../domain/executor.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { firstNotifications, isFinal, type Scan, type ScanRequest } from '../../domain/scan.ts';
import {
  type ScanLogFields,
  type ScanOrigin,
  scanLogFields,
  unknownOrigin,
} from '../../domain/scan-origin.ts';
import type { CursorPosition } from '../cursor.ts';
import type { ListCount } from '../list-count.ts';
import { OutboxTable } from '../outbox.ts';
import { RowCounts } from '../row-counts.ts';
import type { Tables } from '../schema/tables.ts';
import { ViewedTable } from '../store-table.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { type Baseline, findBaseline } from './baseline.ts';
import { type CompletedRun, completedRuns } from './completed-runs.ts';
import { scansWithIds } from './listed-scans.ts';
import { isHere } from './scan-ages.ts';
import type { ScanFilter } from './scan-filter.ts';
import { ScanLister, type ScanPage } from './scan-list.ts';
import { listingOf } from './scan-listing.ts';
import {
  newScanRow,
  pendingScan,
  scanColumns,
  scanFromRow,
  searchableText,
  statesBefore,
  toRow,
} from './scan-row.ts';

export interface ScanTotals {
  scan_count: number;
  /** `created_at` of the oldest and newest scan; null without scans. */
  oldest: string | null;
  newest: string | null;
  size_bytes: number;
}

/** What a worker needs of a scan. */
export interface ScanForWorker {
  request: ScanRequest;
  origin: ScanOrigin;
  tenant: string | null;
  /** The server that runs it; null without one. */
  owner: string | null;
}

export class ScanTable extends ViewedTable {
  readonly #executor: string;
  readonly #atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>;

  /** @param executor default for new scans */
  constructor(
    db: Kysely<Tables>,
    view: TenantView,
    executor: string,
    atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>,
  ) {
    super(db, view);
    this.#executor = executor;
    this.#atomically = atomically;
  }

  /**
   * Stores a new scan as `pending`.
   *
   * @param executor see `domain/executor.ts`
   */
  async insert(
    request: ScanRequest,
    executor = this.#executor,
    origin: ScanOrigin = unknownOrigin,
  ): Promise<Scan> {
    const scan = pendingScan(request);
    await this.#atomically((scans) => scans.#insert(scan, request, executor, origin));
    return scan;
  }

  async #insert(
    scan: Scan,
    request: ScanRequest,
    executor: string,
    { requestId: request_id, traceparent }: ScanOrigin,
  ): Promise<void> {
    await this.db
      .insertInto('scans')
      .values({ ...newScanRow(scan, request, executor, this.view ?? null), request_id, traceparent })
      .execute();
    await this.#insertTags(scan.scan_id, scan.tags);
    await this.#insertListing(scan.scan_id, scan.targets);
  }

  async #insertListing(scanId: string, targets: readonly string[]): Promise<void> {
    const listing = listingOf(targets);
    if (listing === null) return;
    await this.db
      .insertInto('scan_listings')
      .values({ scan_id: scanId, ...listing })
      .execute();
  }

  async #insertTags(scanId: string, tags: readonly string[]): Promise<void> {
    const rows = [...new Set(tags)].map((tag) => ({ scan_id: scanId, tag }));
    if (rows.length > 0) await this.db.insertInto('scan_tags').values(rows).execute();
  }

  async get(scanId: string): Promise<Scan | null> {
    const row = await this.#find(scanId).select(scanColumns).executeTakeFirst();
    return row ? scanFromRow(row) : null;
  }

  async request(scanId: string): Promise<ScanRequest | null> {
    const row = await this.#find(scanId).select('request').executeTakeFirst();
    return row ? (JSON.parse(row.request) as ScanRequest) : null;
  }

  /** What a worker needs of a scan; null if it no longer exists. */
  async forWorker(scanId: string): Promise<ScanForWorker | null> {
    const row = await this.#find(scanId)
      .select(['request', 'request_id as requestId', 'traceparent', 'tenant', 'executor'])
      .executeTakeFirst();
    if (!row) return null;
    const { request, executor, tenant, ...origin } = row;
    return { request: JSON.parse(request) as ScanRequest, origin, tenant, owner: serverOf(executor ?? '') };
  }

  /** Request that submitted the scan. */
  async originOf(scanId: string): Promise<ScanOrigin> {
    const row = await this.#find(scanId)
      .select(['request_id as requestId', 'traceparent'])
      .executeTakeFirst();
    return row ?? unknownOrigin;
  }

  /** Log fields of the scan. */
  async logFieldsOf(scanId: string): Promise<ScanLogFields> {
    const { requestId } = await this.originOf(scanId);
    return scanLogFields(scanId, requestId);
  }

  /** Executor of the scan, see `domain/executor.ts`; null if there is no such scan. */
  async executor(scanId: string): Promise<string | null> {
    const row = await this.#find(scanId).select('executor').executeTakeFirst();
    return row?.executor ?? null;
  }

  /** Gives a scan to another executor. @returns false if somebody else has taken it meanwhile */
  async takeOver(scanId: string, from: string, to: string): Promise<boolean> {
    const result = await this.#change(scanId)
      .set({ executor: to })
      .where('executor', '=', from)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Id of the server whose workspace holds the scan; null with a single server or without such a scan. */
  async ownerOf(scanId: string): Promise<string | null> {
    return serverOf((await this.executor(scanId)) ?? '');
  }

  /** Owner of each scan, of all tenants, see `ownerOf`. */
  async ownersOf(scanIds: readonly string[]): Promise<Map<string, string | null>> {
    if (scanIds.length === 0) return new Map();
    const rows = await this.db
      .selectFrom('scans')
      .select(['scan_id', 'executor'])
      .where('scan_id', 'in', scanIds)
      .execute();
    return new Map(rows.map(({ scan_id, executor }) => [scan_id, serverOf(executor ?? '')]));
  }

  /** Tenant of the scan; null if it has none or does not exist. */
  async tenantOf(scanId: string): Promise<string | null> {
    const row = await this.#find(scanId).select('tenant').executeTakeFirst();
    return row?.tenant ?? null;
  }

  /** Whether the id is taken by a scan of any tenant. */
  async isTaken(scanId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('scans')
      .select('scan_id')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Newest first.
   *
   * @throws PortolanError `invalid_request` for a malformed `cursor` or `since`
   */
  async list(filter: ScanFilter): Promise<ScanPage> {
    return await new ScanLister(this.db, this.view).list(filter);
  }

  /** Completed scans before a position, newest first. */
  async completedRuns(before: CursorPosition, limit: number): Promise<CompletedRun[]> {
    return await completedRuns(this.db, this.view, before, limit);
  }

  /** What a scan is compared with unasked; null without one. */
  async baselineOf(scanId: string): Promise<Baseline | null> {
    return await findBaseline(this.db, this.view, scanId);
  }

  /** Scans by id, in that order, as in lists; without those that do not exist. */
  async listed(ids: readonly string[]): Promise<ListedScan[]> {
    return await scansWithIds(this.db, this.view, ids);
  }

  /** Page without the total: a caller that reads many pages needs the total only once. */
  async listPart(filter: ScanFilter): Promise<Omit<ScanPage, keyof ListCount>> {
    return await new ScanLister(this.db, this.view).listPart(filter);
  }

  /**
   * Changes fields of a scan. Rejects as a whole a patch with a `status` that would lead backwards or out of a final
   * state.
   *
   * @returns whether the scan exists and was changed
   */
  async update(
    scanId: string,
    patch: Partial<Omit<Scan, 'scan_id'>>,
    files: ScanFiles = {},
  ): Promise<boolean> {
    // Progress updates are frequent: a single statement does not wait for other transactions.
    if (isRowOnly(patch)) return await this.#update(scanId, patch, files);
    return await this.#atomically((scans) => scans.#update(scanId, patch, files));
  }

  async #update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>, files: ScanFiles): Promise<boolean> {
    const before = patch.status ? statesBefore[patch.status] : null;
    const result = await this.#change(scanId)
      // Assigning a column to itself keeps an empty patch valid, and the result still shows whether the scan exists.
      .set((e) => ({ scan_id: e.ref('scan_id'), ...toRow(patch), ...files }))
      .$if(before !== null, (query) => query.where('status', 'in', before ?? []))
      .returning(['notifications', 'executor', 'tenant'])
      .executeTakeFirst();
    if (result === undefined) return false;
    if (patch.tags) await this.#replaceTags(scanId, patch.tags);
    if (patch.targets) await this.#replaceListing(scanId, patch.targets);
    if (patch.targets || patch.name !== undefined) await this.#refreshSearchable(scanId);
    if (patch.status && isFinal(patch.status)) await this.#addNotifications(scanId, result);
    return true;
  }

  /** Stores the end of a scan and its notifications atomically. */
  async #addNotifications(
    scanId: string,
    row: { notifications: string; executor: string; tenant: string | null },
  ): Promise<void> {
    const named = (JSON.parse(row.notifications) as Scan['notifications']).map(({ channel }) => channel);
    if (named.length === 0) return;
    const channels = [...new Set(named)];
    await this.#change(scanId)
      .set({ notifications: JSON.stringify(firstNotifications({ notifications: channels })) })
      .execute();
    const outbox = new OutboxTable(this.db, this.view);
    await outbox.add(scanId, channels, row.executor, row.tenant, Date.now());
  }

  async #replaceTags(scanId: string, tags: readonly string[]): Promise<void> {
    await this.db.deleteFrom('scan_tags').where('scan_id', '=', scanId).execute();
    await this.#insertTags(scanId, tags);
  }

  async #replaceListing(scanId: string, targets: readonly string[]): Promise<void> {
    await this.db.deleteFrom('scan_listings').where('scan_id', '=', scanId).execute();
    await this.#insertListing(scanId, targets);
  }

  async #refreshSearchable(scanId: string): Promise<void> {
    const scan = await this.get(scanId);
    if (scan === null) return;
    await this.#change(scanId)
      .set({ searchable: searchableText(scan) })
      .execute();
  }

  /** Deletes the scan together with its job. @returns whether it existed */
  async delete(scanId: string): Promise<boolean> {
    const result = await this.db
      .deleteFrom('scans')
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .executeTakeFirst();
    return result.numDeletedRows > 0n;
  }

  /** Ids of this server's unfinished scans, oldest first: none of them runs when it starts. */
  async unfinished(): Promise<string[]> {
    const rows = await this.db
      .selectFrom('scans')
      .select('scan_id')
      .where(inView(this.view))
      .where(isHere(this.#executor))
      .where('status', 'in', ['pending', 'running'])
      .orderBy('created_at')
      .orderBy('scan_id')
      .execute();
    return rows.map(({ scan_id }) => scan_id);
  }

  /**
   * Stores since when the result store has all files of the scan; null = it does not. @returns whether the scan
   * exists
   */
  async setStored(scanId: string, at: string | null): Promise<boolean> {
    const result = await this.#change(scanId).set({ stored_at: at }).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Since when the result store has all files of the scan; null while it does not. */
  async storedAt(scanId: string): Promise<string | null> {
    const row = await this.#find(scanId).select('stored_at').executeTakeFirst();
    return row?.stored_at ?? null;
  }

  async totals(): Promise<ScanTotals> {
    const { total, bytes } = await new RowCounts(this.db, this.view).of('scans');
    const [oldest, newest] = [await this.#ageAtEnd('asc'), await this.#ageAtEnd('desc')];
    return { scan_count: total, oldest, newest, size_bytes: bytes };
  }

  /** `created_at` of the oldest or newest scan. */
  async #ageAtEnd(order: 'asc' | 'desc'): Promise<string | null> {
    const row = await this.db
      .selectFrom('scans')
      .select('created_at')
      .where(inView(this.view))
      .orderBy('created_at', order)
      .limit(1)
      .executeTakeFirst();
    return row?.created_at ?? null;
  }

  /** Stores the size of the scan's folder. @returns whether the scan exists */
  async setSize(scanId: string, bytes: number): Promise<boolean> {
    const result = await this.#change(scanId).set({ size_bytes: bytes }).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  #find(scanId: string) {
    return this.db.selectFrom('scans').where('scan_id', '=', scanId).where(inView(this.view));
  }

  #change(scanId: string) {
    return this.db.updateTable('scans').where('scan_id', '=', scanId).where(inView(this.view));
  }
}

/** Size of the folder of an ended scan, bytes, and since when the result store has its files. */
export type ScanFiles = { size_bytes?: number; stored_at?: string | null };

/** Whether a change affects neither another table nor the searchable text. */
function isRowOnly({ tags, targets, name, status }: Partial<Scan>): boolean {
  return !tags && !targets && name === undefined && !(status && isFinal(status));
}

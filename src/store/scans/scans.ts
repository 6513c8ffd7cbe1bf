import type { Kysely } from 'kysely';
import { serverOf } from '../../domain/executor.ts';
import { firstNotifications, isFinal, type Scan, type ScanRequest } from '../../domain/scan.ts';
import {
  type ScanLogFields,
  type ScanOrigin,
  scanLogFields,
  unknownOrigin,
} from '../../domain/scan-origin.ts';
import { OutboxTable } from '../outbox.ts';
import { RowCounts } from '../row-counts.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { isHere } from './scan-ages.ts';
import { type ScanFilter, ScanLister, type ScanPage } from './scan-list.ts';
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
  /** `created_at` of the oldest and newest scan; null when there is none. */
  oldest: string | null;
  newest: string | null;
  size_bytes: number;
}

export class ScanTable {
  readonly #db: Kysely<Tables>;
  readonly #view: TenantView;
  readonly #executor: string;
  readonly #atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>;

  /**
   * @param view whose scans are seen, changed and made
   * @param executor of the scans that are made, unless it is said
   */
  constructor(
    db: Kysely<Tables>,
    view: TenantView,
    executor: string,
    atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>,
  ) {
    this.#db = db;
    this.#view = view;
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
    await this.#db
      .insertInto('scans')
      .values({ ...newScanRow(scan, request, executor, this.#view ?? null), request_id, traceparent })
      .execute();
    await this.#insertTags(scan.scan_id, scan.tags);
    await this.#insertListing(scan.scan_id, scan.targets);
  }

  async #insertListing(scanId: string, targets: readonly string[]): Promise<void> {
    const listing = listingOf(targets);
    if (listing === null) return;
    await this.#db
      .insertInto('scan_listings')
      .values({ scan_id: scanId, ...listing })
      .execute();
  }

  async #insertTags(scanId: string, tags: readonly string[]): Promise<void> {
    const rows = [...new Set(tags)].map((tag) => ({ scan_id: scanId, tag }));
    if (rows.length > 0) await this.#db.insertInto('scan_tags').values(rows).execute();
  }

  async get(scanId: string): Promise<Scan | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select(scanColumns)
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row ? scanFromRow(row) : null;
  }

  async request(scanId: string): Promise<ScanRequest | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('request')
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row ? (JSON.parse(row.request) as ScanRequest) : null;
  }

  /** The request that submitted the scan. */
  async originOf(scanId: string): Promise<ScanOrigin> {
    const row = await this.#db
      .selectFrom('scans')
      .select(['request_id as requestId', 'traceparent'])
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row ?? unknownOrigin;
  }

  /** What log lines about the scan name. */
  async logFieldsOf(scanId: string): Promise<ScanLogFields> {
    const { requestId } = await this.originOf(scanId);
    return scanLogFields(scanId, requestId);
  }

  /** Who runs the scan, see `domain/executor.ts`; null when there is no such scan. */
  async executor(scanId: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('executor')
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row?.executor ?? null;
  }

  /** Id of the server in whose workspace the scan lies; null where there is one only, and when there is no such scan. */
  async ownerOf(scanId: string): Promise<string | null> {
    return serverOf((await this.executor(scanId)) ?? '');
  }

  /** Of those scans that are listed, of the tenants out of view too: the server in whose workspace each lies, see `ownerOf`. */
  async ownersOf(scanIds: readonly string[]): Promise<Map<string, string | null>> {
    if (scanIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('scans')
      .select(['scan_id', 'executor'])
      .where('scan_id', 'in', scanIds)
      .execute();
    return new Map(rows.map(({ scan_id, executor }) => [scan_id, serverOf(executor ?? '')]));
  }

  /** Whose the scan is; null for one without tenant, and when there is none. */
  async tenantOf(scanId: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('tenant')
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row?.tenant ?? null;
  }

  /** Whether a scan of anybody, of the tenants out of view too, has the id. */
  async isTaken(scanId: string): Promise<boolean> {
    const row = await this.#db
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
    return await new ScanLister(this.#db, this.#view).list(filter);
  }

  /** A page without the total, which whoever reads a long page in parts needs once. */
  async listPart(filter: ScanFilter): Promise<Omit<ScanPage, 'total'>> {
    return await new ScanLister(this.#db, this.#view).listPart(filter);
  }

  /**
   * Changes fields of a scan. A patch with a `status` that would lead backwards or out of a final state is refused
   * as a whole.
   *
   * @returns whether the scan was there and was changed
   */
  async update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): Promise<boolean> {
    // Figures of running scans come often: one statement needs no turn among the transactions.
    if (isRowOnly(patch)) return await this.#update(scanId, patch);
    return await this.#atomically((scans) => scans.#update(scanId, patch));
  }

  async #update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): Promise<boolean> {
    const before = patch.status ? statesBefore[patch.status] : null;
    const result = await this.#db
      .updateTable('scans')
      // An assignment to itself keeps an empty patch a valid statement that still tells whether the scan exists.
      .set((e) => ({ scan_id: e.ref('scan_id'), ...toRow(patch) }))
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .$if(before !== null, (query) => query.where('status', 'in', before ?? []))
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return false;
    if (patch.tags) await this.#replaceTags(scanId, patch.tags);
    if (patch.targets) await this.#replaceListing(scanId, patch.targets);
    if (patch.targets || patch.name !== undefined) await this.#refreshSearchable(scanId);
    if (patch.status && isFinal(patch.status)) await this.#addNotifications(scanId);
    return true;
  }

  /** The end of a scan and the messages about it are one fact, whoever ends it: both are stored or none. */
  async #addNotifications(scanId: string): Promise<void> {
    const row = await this.#db
      .selectFrom('scans')
      .select(['notifications', 'executor', 'tenant'])
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirstOrThrow();
    const named = (JSON.parse(row.notifications) as Scan['notifications']).map(({ channel }) => channel);
    if (named.length === 0) return;
    const channels = [...new Set(named)];
    await this.#db
      .updateTable('scans')
      .set({ notifications: JSON.stringify(firstNotifications({ notifications: channels })) })
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .execute();
    const outbox = new OutboxTable(this.#db, this.#view);
    await outbox.add(scanId, channels, row.executor, row.tenant, Date.now());
  }

  async #replaceTags(scanId: string, tags: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('scan_tags').where('scan_id', '=', scanId).execute();
    await this.#insertTags(scanId, tags);
  }

  async #replaceListing(scanId: string, targets: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('scan_listings').where('scan_id', '=', scanId).execute();
    await this.#insertListing(scanId, targets);
  }

  async #refreshSearchable(scanId: string): Promise<void> {
    const scan = await this.get(scanId);
    if (scan === null) return;
    await this.#db
      .updateTable('scans')
      .set({ searchable: searchableText(scan) })
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .execute();
  }

  /** Deletes the scan together with its job. @returns whether it was there */
  async delete(scanId: string): Promise<boolean> {
    const result = await this.#db
      .deleteFrom('scans')
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return result.numDeletedRows > 0n;
  }

  /** Ids of the scans of this server that wait or run, oldest first: at its start nobody runs them. */
  async unfinished(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('scans')
      .select('scan_id')
      .where(inView(this.#view))
      .where(isHere(this.#executor))
      .where('status', 'in', ['pending', 'running'])
      .orderBy('created_at')
      .orderBy('scan_id')
      .execute();
    return rows.map(({ scan_id }) => scan_id);
  }

  /** Since when the result store holds all files of the scan, or that it does not. @returns whether the scan is still there */
  async setStored(scanId: string, at: string | null): Promise<boolean> {
    const result = await this.#db
      .updateTable('scans')
      .set({ stored_at: at })
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Since when the result store holds all files of the scan; null while it does not. */
  async storedAt(scanId: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('stored_at')
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row?.stored_at ?? null;
  }

  async totals(): Promise<ScanTotals> {
    const { total, bytes } = await new RowCounts(this.#db, this.#view).of('scans');
    const [oldest, newest] = [await this.#ageAtEnd('asc'), await this.#ageAtEnd('desc')];
    return { scan_count: total, oldest, newest, size_bytes: bytes };
  }

  /** `created_at` of the first scan in the order of age. */
  async #ageAtEnd(order: 'asc' | 'desc'): Promise<string | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('created_at')
      .where(inView(this.#view))
      .orderBy('created_at', order)
      .limit(1)
      .executeTakeFirst();
    return row?.created_at ?? null;
  }

  /** Remembers the size of the scan's folder. @returns whether the scan was there */
  async setSize(scanId: string, bytes: number): Promise<boolean> {
    const result = await this.#db
      .updateTable('scans')
      .set({ size_bytes: bytes })
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }
}

/** Whether a change concerns no other table, nor the text that a scan is found by. */
function isRowOnly({ tags, targets, name, status }: Partial<Scan>): boolean {
  return !tags && !targets && name === undefined && !(status && isFinal(status));
}

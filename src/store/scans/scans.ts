import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { invalidRequest } from '../../domain/errors.ts';
import { serverOf } from '../../domain/executor.ts';
import {
  firstNotifications,
  isFinal,
  type Scan,
  type ScanRequest,
  type ScanStatus,
  scanIdPattern,
} from '../../domain/scan.ts';
import { type CursorPosition, decodeCursor, encodeCursor } from '../cursor.ts';
import { isPostgres } from '../database.ts';
import { OutboxTable } from '../outbox.ts';
import { RowCounts } from '../row-counts.ts';
import { flag, type ScanTableRow, type Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import {
  type AgeRange,
  countInWindows,
  newestOfAll,
  rowsInWindows,
  type SearchedList,
  stepBack,
} from './age-windows.ts';
import { isHere } from './scan-ages.ts';
import { listingOf } from './scan-listing.ts';
import { newScanRow, pendingScan, searchableText, statesBefore, toRow } from './scan-row.ts';

export interface ScanFilter {
  status?: ScanStatus;
  /** ISO 8601; scans created then or later. */
  since?: string;
  tag?: string;
  /** Substring of the name or of a target, ASCII letters of either case. */
  q?: string;
  limit: number;
  /** Scans to skip; not used together with `cursor`. */
  offset: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

/** A scan in a list: with very many targets only the first ones, and how many there are. */
export type ListedScan = Scan & { targets_total?: number };

export interface ScanPage {
  scans: ListedScan[];
  /** All scans that match, whatever the page. */
  total: number;
  /** Null on the last page. */
  nextCursor: string | null;
}

export interface ScanTotals {
  scan_count: number;
  /** `created_at` of the oldest and newest scan; null when there is none. */
  oldest: string | null;
  newest: string | null;
  size_bytes: number;
}

type Filters = Pick<ScanFilter, 'status' | 'since' | 'tag' | 'q'>;

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
  async insert(request: ScanRequest, executor = this.#executor): Promise<Scan> {
    const scan = pendingScan(request);
    await this.#atomically((scans) => scans.#insert(scan, request, executor));
    return scan;
  }

  async #insert(scan: Scan, request: ScanRequest, executor: string): Promise<void> {
    await this.#db
      .insertInto('scans')
      .values(newScanRow(scan, request, executor, this.#view ?? null))
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
    return row ? fromRow(row) : null;
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
  async homeOf(scanId: string): Promise<string | null> {
    return serverOf((await this.executor(scanId)) ?? '');
  }

  /** Of those scans that are listed, of the tenants out of view too: the server in whose workspace each lies, see `homeOf`. */
  async homesOf(scanIds: readonly string[]): Promise<Map<string, string | null>> {
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
    const total = await this.#count(filter);
    return { ...(await this.listPart(filter)), total };
  }

  /** A page without the total, which whoever reads a long page in parts needs once. */
  async listPart(filter: ScanFilter): Promise<Omit<ScanPage, 'total'>> {
    const rows = await this.#page(filter);
    const scans = rows.slice(0, filter.limit).map(listedScan);
    const last = scans.at(-1);
    return {
      scans,
      nextCursor:
        last && rows.length > filter.limit
          ? encodeCursor({ createdAt: last.created_at, id: last.scan_id })
          : null,
    };
  }

  async #count(filter: ScanFilter): Promise<number> {
    const { status, since } = filter;
    if (isIndexed(filter) && since === undefined)
      return (await new RowCounts(this.#db, this.#view).of('scans', status)).total;
    // PostgreSQL searches in a process of its own.
    if (isIndexed(filter) || isPostgres(this.#db))
      return await this.#countIn(filter, { before: newestOfAll, from: null });
    return await countInWindows(this.#searched(filter));
  }

  async #countIn(filter: Filters, range: AgeRange): Promise<number> {
    const row = await this.#db
      .selectFrom('scans')
      .select((e) => e.fn.countAll().as('scans'))
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .executeTakeFirstOrThrow();
    return Number(row.scans);
  }

  /** One more than the page holds, to know whether another one follows. */
  async #page(filter: ScanFilter): Promise<ListedRow[]> {
    const { cursor, offset } = filter;
    const before = cursor === undefined ? newestOfAll : decodeCursor(cursor, scanIdPattern);
    const limit = filter.limit + 1;
    const skip = cursor === undefined ? offset : 0;
    if (isPostgres(this.#db)) return await this.#rows(filter, { before, from: null }, limit, skip);
    if (!isIndexed(filter)) return await rowsInWindows(this.#searched(filter), before, limit, skip);
    const start = await stepBack(before, skip, (position, n) => this.#nthBefore(filter, position, n));
    return start === null ? [] : await this.#rows(filter, { before: start, from: null }, limit, 0);
  }

  #searched(filter: Filters): SearchedList<ListedRow> {
    return {
      nthBefore: (position, n) => this.#nthBefore({}, position, n),
      count: (range) => this.#countIn(filter, range),
      rows: (range, limit, offset) => this.#rows(filter, range, limit, offset),
    };
  }

  async #nthBefore(filter: Filters, position: CursorPosition, n: number): Promise<CursorPosition | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select(['created_at', 'scan_id'])
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange({ before: position, from: null }))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? { createdAt: row.created_at, id: row.scan_id } : null;
  }

  async #rows(filter: Filters, range: AgeRange, limit: number, offset: number): Promise<ListedRow[]> {
    return await this.#db
      .selectFrom('scans')
      .select(shortColumns)
      // Megabytes of targets are not even read.
      .select((e) => {
        const listing = e.selectFrom('scan_listings').whereRef('scan_listings.scan_id', '=', 'scans.scan_id');
        return [
          e.fn.coalesce(listing.select('scan_listings.targets'), 'scans.targets').as('targets'),
          listing.select('targets_total').as('targets_total'),
        ];
      })
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
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
    if (patch.status && isFinal(patch.status)) await this.#oweNotifications(scanId);
    return true;
  }

  /** The end of a scan and the messages about it are one fact, whoever ends it: both are stored or none. */
  async #oweNotifications(scanId: string): Promise<void> {
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
    await outbox.owe(scanId, channels, row.executor, row.tenant, Date.now());
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

const shortColumns = [
  'scan_id',
  'created_at',
  'status',
  'started_at',
  'completed_at',
  'profile',
  'vuln',
  'name',
  'pool',
  'live_hosts',
  'open_ports',
  'vulnerabilities',
  'tags',
  'progress',
  'severity_counts',
  'error',
  'notifications',
  'warnings',
  'stages',
] as const satisfies (keyof ScanTableRow)[];
const scanColumns = [...shortColumns, 'targets'] as const;

type StoredScan = Pick<ScanTableRow, (typeof scanColumns)[number]>;
type ListedRow = StoredScan & { targets_total: number | null };

function fromRow(row: StoredScan): Scan {
  return {
    scan_id: row.scan_id,
    status: row.status as ScanStatus,
    targets: JSON.parse(row.targets),
    started_at: row.started_at,
    completed_at: row.completed_at,
    results: {
      live_hosts: Number(row.live_hosts),
      open_ports: Number(row.open_ports),
      vulnerabilities: Number(row.vulnerabilities),
    },
    created_at: row.created_at,
    profile: row.profile,
    vuln: flag.fromRow(row.vuln),
    name: row.name,
    tags: JSON.parse(row.tags),
    pool: row.pool,
    progress: JSON.parse(row.progress),
    severity_counts: JSON.parse(row.severity_counts),
    error: row.error === null ? null : JSON.parse(row.error),
    warnings: JSON.parse(row.warnings),
    notifications: JSON.parse(row.notifications),
    stages: JSON.parse(row.stages),
  };
}

function listedScan(row: ListedRow): ListedScan {
  const scan = fromRow(row);
  return row.targets_total === null ? scan : { ...scan, targets_total: Number(row.targets_total) };
}

/** Whether an index leads to the scans that match, in the order of the list. */
function isIndexed({ tag, q }: Filters): boolean {
  return tag === undefined && q === undefined;
}

function isInRange({ before, from }: AgeRange) {
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const position = e.refTuple('created_at', 'scan_id');
    return e.and([
      ...(before === newestOfAll ? [] : [e(position, '<', e.tuple(before.createdAt, before.id))]),
      ...(from === null ? [] : [e(position, '>=', e.tuple(from.createdAt, from.id))]),
    ]);
  };
}

function matching(filter: Filters) {
  const since = filter.since === undefined ? null : isoTime(filter.since);
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(e('status', '=', filter.status));
    if (since !== null) conditions.push(e('created_at', '>=', since));
    if (filter.tag !== undefined) {
      conditions.push(
        e.exists(
          e
            .selectFrom('scan_tags')
            .select('scan_tags.scan_id')
            .where('tag', '=', filter.tag)
            .whereRef('scan_tags.scan_id', '=', 'scans.scan_id'),
        ),
      );
    }
    if (filter.q !== undefined) {
      conditions.push(sql<SqlBool>`lower(searchable) like lower(${likePattern(filter.q)}) escape '\\'`);
    }
    return e.and(conditions);
  };
}

function likePattern(substring: string): string {
  return `%${substring.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Stored times are `Date.toISOString` texts, which order like the times; others must be brought to that form. */
function isoTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalidRequest('The time is malformed.', [{ field: 'since', reason: 'not an ISO 8601 time' }]);
  }
  return time.toISOString();
}

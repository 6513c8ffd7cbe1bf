import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { invalidRequest } from '../domain/errors.ts';
import { noFindings } from '../domain/finding.ts';
import {
  type Scan,
  type ScanProgress,
  type ScanRequest,
  type ScanStatus,
  scanIdPattern,
} from '../domain/scan.ts';
import { flag, type ScanTableRow, type Tables } from './tables.ts';

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

export interface ScanPage {
  scans: Scan[];
  /** All scans that match, whatever the page. */
  total: number;
  /** Null on the last page. */
  nextCursor: string | null;
}

/** A scan as far as its age is concerned. */
export type DatedScan = Pick<Scan, 'scan_id' | 'created_at' | 'status'>;

export interface ScanTotals {
  scan_count: number;
  /** `created_at` of the oldest and newest scan; null when there is none. */
  oldest: string | null;
  newest: string | null;
  size_bytes: number;
}

/** The states from which a scan may come into a state. States only go forward; the two final ones stay. */
const statesBefore: Record<ScanStatus, ScanStatus[]> = {
  pending: ['pending'],
  running: ['pending', 'running'],
  completed: ['pending', 'running'],
  failed: ['pending', 'running'],
};

type Filters = Pick<ScanFilter, 'status' | 'since' | 'tag' | 'q'>;

export class ScanTable {
  readonly #db: Kysely<Tables>;
  readonly #atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>;

  constructor(db: Kysely<Tables>, atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>) {
    this.#db = db;
    this.#atomically = atomically;
  }

  /**
   * Stores a new scan as `pending`.
   *
   * @param executor `server`, or `cli:<pid>` for a scan that a command line runs itself
   */
  async insert(request: ScanRequest, executor = 'server'): Promise<Scan> {
    const scan = pendingScan(request);
    await this.#atomically((scans) => scans.#insert(scan, request, executor));
    return scan;
  }

  async #insert(scan: Scan, request: ScanRequest, executor: string): Promise<void> {
    await this.#db
      .insertInto('scans')
      .values({
        ...(toRow(scan) as Omit<ScanTableRow, 'executor' | 'size_bytes' | 'searchable' | 'request'>),
        executor,
        size_bytes: 0,
        searchable: searchableText(scan),
        request: JSON.stringify(request),
      })
      .execute();
    await this.#insertTags(scan.scan_id, scan.tags);
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
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  async request(scanId: string): Promise<ScanRequest | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('request')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row ? (JSON.parse(row.request) as ScanRequest) : null;
  }

  /** Who runs the scan: `server` or `cli:<pid>`. */
  async executor(scanId: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select('executor')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row?.executor ?? null;
  }

  /**
   * Newest first.
   *
   * @throws PortolanError `invalid_request` for a malformed `cursor` or `since`
   */
  async list(filter: ScanFilter): Promise<ScanPage> {
    const total = await this.#count(filter);
    const rows = await this.#page(filter);
    const scans = rows.slice(0, filter.limit).map(fromRow);
    const last = scans.at(-1);
    return {
      scans,
      total,
      nextCursor: last && rows.length > filter.limit ? encodeCursor(last.created_at, last.scan_id) : null,
    };
  }

  async #count(filter: ScanFilter): Promise<number> {
    const row = await this.#db
      .selectFrom('scans')
      .select((e) => e.fn.countAll().as('scans'))
      .where(matching(filter))
      .executeTakeFirstOrThrow();
    return Number(row.scans);
  }

  /** One more than the page holds, to know whether another one follows. */
  async #page(filter: ScanFilter): Promise<StoredScan[]> {
    const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor);
    return await this.#db
      .selectFrom('scans')
      .select(scanColumns)
      .where(matching(filter))
      .$if(after !== null, (query) =>
        query.where((e) =>
          e(e.refTuple('created_at', 'scan_id'), '<', e.tuple(after?.createdAt ?? '', after?.scanId ?? '')),
        ),
      )
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(filter.limit + 1)
      .$if(after === null, (query) => query.offset(filter.offset))
      .execute();
  }

  /**
   * Changes fields of a scan. A patch with a `status` that would lead backwards or out of a final state is refused
   * as a whole.
   *
   * @returns whether the scan was there and was changed
   */
  async update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): Promise<boolean> {
    return await this.#atomically((scans) => scans.#update(scanId, patch));
  }

  async #update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): Promise<boolean> {
    const before = patch.status ? statesBefore[patch.status] : null;
    const result = await this.#db
      .updateTable('scans')
      // An assignment to itself keeps an empty patch a valid statement that still tells whether the scan exists.
      .set((e) => ({ scan_id: e.ref('scan_id'), ...toRow(patch) }))
      .where('scan_id', '=', scanId)
      .$if(before !== null, (query) => query.where('status', 'in', before ?? []))
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return false;
    if (patch.tags) await this.#replaceTags(scanId, patch.tags);
    if (patch.targets || patch.name !== undefined) await this.#refreshSearchable(scanId);
    return true;
  }

  async #replaceTags(scanId: string, tags: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('scan_tags').where('scan_id', '=', scanId).execute();
    await this.#insertTags(scanId, tags);
  }

  async #refreshSearchable(scanId: string): Promise<void> {
    const scan = await this.get(scanId);
    if (scan === null) return;
    await this.#db
      .updateTable('scans')
      .set({ searchable: searchableText(scan) })
      .where('scan_id', '=', scanId)
      .execute();
  }

  /** Deletes the scan together with its job. @returns whether it was there */
  async delete(scanId: string): Promise<boolean> {
    const result = await this.#db.deleteFrom('scans').where('scan_id', '=', scanId).executeTakeFirst();
    return result.numDeletedRows > 0n;
  }

  /** Scans that are stored as running, oldest first: at server start nobody runs them. */
  async orphans(): Promise<Scan[]> {
    const rows = await this.#db
      .selectFrom('scans')
      .select(scanColumns)
      .where('status', '=', 'running')
      .orderBy('created_at')
      .orderBy('scan_id')
      .execute();
    return rows.map(fromRow);
  }

  /** Every scan, newest first. */
  async byAge(): Promise<DatedScan[]> {
    const rows = await this.#db
      .selectFrom('scans')
      .select(['scan_id', 'created_at', 'status'])
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .execute();
    return rows.map((row) => ({ ...row, status: row.status as ScanStatus }));
  }

  async totals(): Promise<ScanTotals> {
    const row = await this.#db
      .selectFrom('scans')
      .select((e) => [
        e.fn.countAll().as('scan_count'),
        e.fn.min('created_at').as('oldest'),
        e.fn.max('created_at').as('newest'),
        e.fn.coalesce(e.fn.sum('size_bytes'), sql<number>`0`).as('size_bytes'),
      ])
      .executeTakeFirstOrThrow();
    return {
      scan_count: Number(row.scan_count),
      oldest: row.oldest,
      newest: row.newest,
      size_bytes: Number(row.size_bytes),
    };
  }

  /** Remembers the size of the scan's folder. @returns whether the scan was there */
  async setSize(scanId: string, bytes: number): Promise<boolean> {
    const result = await this.#db
      .updateTable('scans')
      .set({ size_bytes: bytes })
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }
}

const scanColumns = [
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
  'targets',
] as const satisfies (keyof ScanTableRow)[];

type StoredScan = Pick<ScanTableRow, (typeof scanColumns)[number]>;

function pendingScan(request: ScanRequest): Scan {
  return {
    scan_id: request.scan_id,
    status: 'pending',
    targets: request.targets,
    started_at: null,
    completed_at: null,
    results: { live_hosts: 0, open_ports: 0, vulnerabilities: 0 },
    created_at: request.created_at,
    profile: request.profile,
    vuln: request.vuln,
    name: request.name,
    tags: request.tags,
    pool: request.pool,
    progress: initialProgress(),
    severity_counts: noFindings(),
    error: null,
    warnings: [],
    notifications: request.notifications.map((channel) => ({
      channel,
      // Nothing is promised that nobody will do.
      status: 'skipped',
      attempts: 0,
      error: 'this build sends no notifications',
    })),
    stages: [],
  };
}

function initialProgress(): ScanProgress {
  return {
    percent: 0,
    phase: 'pending',
    hosts_done: 0,
    hosts_total: 0,
    paused: false,
    rate: 0,
    eta_seconds: null,
    resumes: 0,
    shards: { total: 1, done: 0, running: 0 },
  };
}

/** The columns of those fields that `scan` has. */
function toRow(scan: Partial<Scan>): Partial<ScanTableRow> {
  const {
    results,
    vuln,
    targets,
    tags,
    progress,
    severity_counts,
    error,
    warnings,
    notifications,
    stages,
    ...plain
  } = scan;
  return {
    ...plain,
    ...results,
    ...(vuln !== undefined && { vuln: flag.toRow(vuln) }),
    ...(error !== undefined && { error: error && JSON.stringify(error) }),
    ...jsonColumns({ targets, tags, progress, severity_counts, warnings, notifications, stages }),
  };
}

function jsonColumns(fields: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, JSON.stringify(value)]));
}

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

function searchableText(scan: Pick<Scan, 'name' | 'targets'>): string {
  return [scan.name ?? '', ...scan.targets].join('\n');
}

function matching(filter: Filters) {
  const since = filter.since === undefined ? null : isoTime(filter.since);
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(e('status', '=', filter.status));
    if (since !== null) conditions.push(e('created_at', '>=', since));
    if (filter.tag !== undefined) {
      conditions.push(
        e(
          'scan_id',
          'in',
          e.selectFrom('scan_tags').select('scan_tags.scan_id').where('tag', '=', filter.tag),
        ),
      );
    }
    if (filter.q !== undefined) {
      conditions.push(sql<SqlBool>`searchable like ${likePattern(filter.q)} escape '\\'`);
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

/** A place in the list, not a row: it stays good when the scan is deleted. */
interface Cursor {
  createdAt: string;
  scanId: string;
}

function encodeCursor(createdAt: string, scanId: string): string {
  return Buffer.from(`${createdAt} ${scanId}`).toString('base64url');
}

function decodeCursor(cursor: string): Cursor {
  const [createdAt = '', scanId = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const wellFormed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(createdAt) && scanIdPattern.test(scanId);
  // Decoding skips what is not base64url, so only what encodes to the same text is a cursor of ours.
  if (!wellFormed || encodeCursor(createdAt, scanId) !== cursor) {
    throw invalidRequest('The cursor is malformed.', [
      { field: 'cursor', reason: 'not a next_cursor of this list' },
    ]);
  }
  return { createdAt, scanId };
}

import { setImmediate } from 'node:timers/promises';
import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { commandLinesOf, serverOf } from '../../domain/executor.ts';
import type { ScanStatus } from '../../domain/scan.ts';
import type { CursorPosition } from '../cursor.ts';
import { numberOfRows } from '../list-count.ts';
import { RowCounts } from '../row-counts.ts';
import type { ScanTableRow, Tables } from '../schema/tables.ts';
import { ViewedTable } from '../store-table.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { newestOfAll, stepBack } from './age-windows.ts';

/** A finished scan, with what retention needs. */
export interface FinishedScan {
  scan_id: string;
  created_at: string;
  /** ISO 8601 UTC; submission time if no end is stored. */
  ended_at: string;
  tenant: string | null;
  /** Last measured size of the scan's folder, bytes. */
  size_bytes: number;
}

/** A scan with its age and size. */
export type DatedScan = Pick<FinishedScan, 'scan_id' | 'created_at' | 'tenant' | 'size_bytes'> & {
  status: ScanStatus;
  profile: string;
};

/** Finished scans per tenant that are older than a position, exclusive. Tenants not named lose none. */
export type OlderThan = ReadonlyMap<string | null, CursorPosition>;

/** Rows per statement: SQLite runs on the event loop, which is free between two statements. */
const rowsAtOnce = 500;
/** Scans by age, page by page: the cost of a statement does not depend on their number. */
export class ScanAges extends ViewedTable {
  readonly #executor: string;

  constructor(db: Kysely<Tables>, view: TenantView, executor: string) {
    super(db, view);
    this.#executor = executor;
  }

  /** Visible tenants that have scans; null stands for scans without tenant. */
  async tenants(): Promise<(string | null)[]> {
    if (this.view !== undefined) return [this.view];
    const found: (string | null)[] = [];
    if (await this.#hasScansWithoutTenant()) found.push(null);
    for (let last = ''; ; ) {
      const next = await this.#tenantAfter(last);
      if (next === null) return found;
      found.push(next);
      last = next;
    }
  }

  async #hasScansWithoutTenant(): Promise<boolean> {
    const rows = await this.db
      .selectFrom('scans')
      .select('scan_id')
      .where('tenant', 'is', null)
      .limit(1)
      .execute();
    return rows.length > 0;
  }

  /** One index lookup per tenant, where `distinct` would read one entry per scan. */
  async #tenantAfter(last: string): Promise<string | null> {
    const row = await this.db
      .selectFrom('scans')
      .select('tenant')
      .where('tenant', '>', last)
      .orderBy('tenant')
      .limit(1)
      .executeTakeFirst();
    return row?.tenant ?? null;
  }

  /** Scans of this server. */
  async countHere(): Promise<number> {
    if (serverOf(this.#executor) === null) return (await new RowCounts(this.db, this.view).of('scans')).total;
    return await numberOfRows(
      this.db.selectFrom('scans').where(inView(this.view)).where(isHere(this.#executor)),
    );
  }

  /**
   * Position of the n-th newest scan of a tenant, in any state.
   *
   * @param n from 1
   * @returns null if the tenant has fewer
   */
  async nthNewest(tenant: string | null, n: number): Promise<CursorPosition | null> {
    return await stepBack(newestOfAll, n, (position, step) => this.#nthBefore(tenant, position, step));
  }

  async #nthBefore(
    tenant: string | null,
    position: CursorPosition,
    n: number,
  ): Promise<CursorPosition | null> {
    const row = await this.db
      .selectFrom('scans')
      .select(['created_at', 'scan_id'])
      .where(inView(tenant))
      .where(isBeyond('<', position))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? agePositionOf(row) : null;
  }

  /** Scans of this server in any state, newest first, without those inserted meanwhile. */
  async *newestFirst(): AsyncGenerator<DatedScan> {
    for (let position: CursorPosition | null = newestOfAll; position !== null; ) {
      const page: DatedScan[] = await this.#pageBefore(position);
      yield* page;
      const last = page.at(-1);
      position = last && page.length === rowsAtOnce ? agePositionOf(last) : null;
    }
  }

  async #pageBefore(position: CursorPosition): Promise<DatedScan[]> {
    const rows = await this.db
      .selectFrom('scans')
      .select(['scan_id', 'created_at', 'status', 'profile', 'tenant', 'size_bytes'])
      .where(inView(this.view))
      .where(isHere(this.#executor))
      .where(isBeyond('<', position))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(rowsAtOnce)
      .execute();
    await setImmediate();
    return rows.map((row) => ({
      ...row,
      status: row.status as ScanStatus,
      size_bytes: Number(row.size_bytes),
    }));
  }

  /**
   * Finished scans of all given tenants, oldest first.
   * @param after exclusive
   * @param of the scans of every server, or of this one
   */
  async *finished(
    olderThan: OlderThan,
    { after, of = 'all' }: { after?: CursorPosition | undefined; of?: 'all' | 'here' } = {},
  ): AsyncGenerator<FinishedScan> {
    const streams: PageReader[] = [];
    for (const [tenant, end] of olderThan) {
      // One stream per state: a combined query would sort in memory.
      for (const status of ['completed', 'failed'] as const)
        streams.push(new PageReader((last) => this.#finishedPage(tenant, status, end, of, last), after));
    }
    yield* merged(streams);
  }

  /** Finished scans of this server that are not in the result store, oldest first. */
  unstored(): AsyncGenerator<FinishedScan> {
    const read = (status: ScanStatus) => new PageReader((last) => this.#unstoredPage(status, last));
    return merged([read('completed'), read('failed')]);
  }

  /** Number of finished scans of this server that are not in the result store. */
  async countUnstored(): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('scans')
        .where(isHere(this.#executor))
        .where(inView(this.view))
        .where('status', 'in', ['completed', 'failed'])
        .where('stored_at', 'is', null),
    );
  }

  async #unstoredPage(status: ScanStatus, last: CursorPosition | undefined): Promise<FinishedScan[]> {
    const rows = await this.#finishedRows(status, last)
      .where(inView(this.view))
      .where(isHere(this.#executor))
      .where('stored_at', 'is', null)
      .execute();
    await setImmediate();
    return rows.map(finishedScan);
  }

  async #finishedPage(
    tenant: string | null,
    status: ScanStatus,
    end: CursorPosition,
    of: 'all' | 'here',
    last: CursorPosition | undefined,
  ): Promise<FinishedScan[]> {
    const rows = await this.#finishedRows(status, last)
      .where(inView(tenant))
      .$if(of === 'here', (query) => query.where(isHere(this.#executor)))
      .where(isBeyond('<', end))
      .execute();
    await setImmediate();
    return rows.map(finishedScan);
  }

  #finishedRows(status: ScanStatus, last: CursorPosition | undefined) {
    return this.db
      .selectFrom('scans')
      .select(['scan_id', 'created_at', 'completed_at', 'tenant', 'size_bytes'])
      .where('status', '=', status)
      .$if(last !== undefined, (query) => query.where(isBeyond('>', last ?? newestOfAll)))
      .orderBy('created_at')
      .orderBy('scan_id')
      .limit(rowsAtOnce);
  }
}

function finishedScan({
  completed_at,
  ...row
}: Pick<ScanTableRow, 'scan_id' | 'created_at' | 'completed_at' | 'tenant' | 'size_bytes'>): FinishedScan {
  return { ...row, ended_at: completed_at ?? row.created_at, size_bytes: Number(row.size_bytes) };
}

/** Reads pages in one order, one page ahead. */
class PageReader {
  readonly #read: (last: CursorPosition | undefined) => Promise<FinishedScan[]>;
  #last: CursorPosition | undefined;
  #rows: FinishedScan[] = [];
  #next = 0;
  #ended = false;

  constructor(read: (last: CursorPosition | undefined) => Promise<FinishedScan[]>, after?: CursorPosition) {
    this.#read = read;
    this.#last = after;
  }

  async head(): Promise<FinishedScan | null> {
    if (this.#next === this.#rows.length && !this.#ended) {
      this.#rows = await this.#read(this.#last);
      this.#next = 0;
      const last = this.#rows.at(-1);
      if (last) this.#last = agePositionOf(last);
      this.#ended = this.#rows.length < rowsAtOnce;
    }
    return this.#rows[this.#next] ?? null;
  }

  /** Removes and returns `head`. */
  take(): FinishedScan {
    return this.#rows[this.#next++] as FinishedScan;
  }
}

/** Merges streams into one order, oldest first. */
async function* merged(streams: readonly PageReader[]): AsyncGenerator<FinishedScan> {
  for (;;) {
    const oldest = await oldestHead(streams);
    if (oldest === null) return;
    yield oldest.take();
  }
}

async function oldestHead(streams: readonly PageReader[]): Promise<PageReader | null> {
  let oldest: { stream: PageReader; scan: FinishedScan } | null = null;
  for (const stream of streams) {
    const scan = await stream.head();
    if (scan === null) continue;
    if (oldest === null || compareAge(agePositionOf(scan), agePositionOf(oldest.scan)) < 0)
      oldest = { stream, scan };
  }
  return oldest?.stream ?? null;
}

export function agePositionOf({
  created_at,
  scan_id,
}: Pick<ScanTableRow, 'created_at' | 'scan_id'>): CursorPosition {
  return { createdAt: created_at, id: scan_id };
}

/** Negative when `a` is older. */
export function compareAge(a: CursorPosition, b: CursorPosition): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/** Older (`<`) or newer (`>`) than a position. */
function isBeyond(side: '<' | '>', { createdAt, id }: CursorPosition) {
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> =>
    e(e.refTuple('created_at', 'scan_id'), side, e.tuple(createdAt, id));
}

/** Only scans whose folder is on this server. @param executor of the scans that this server creates */
export function isHere(executor: string) {
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const home = serverOf(executor);
    if (home === null) return e.and([]);
    return e.or([e('executor', '=', executor), e('executor', 'like', commandLinesOf(home))]);
  };
}

import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder, Insertable } from 'kysely';
import { numberOfRows } from './list-count.ts';
import type { OutboxTableRow, Tables } from './schema/tables.ts';
import { ViewedTable } from './store-table.ts';
import { inView } from './tenant-view.ts';

/** A notification for one channel, about an ended scan or an event without a scan. */
export type PendingNotification = Pick<
  OutboxTableRow,
  'id' | 'scan_id' | 'channel' | 'attempts' | 'event' | 'payload'
> & {
  /** Of the request that submitted the scan; null without one. */
  request_id: string | null;
};

/** A message without a scan, and its channels. */
export interface NewNotice {
  event: string;
  /** Stored as JSON. */
  payload: object;
  channels: readonly string[];
  /** Sender, see `domain/executor.ts`. */
  owner: string;
  tenant: string | null;
}

const columns = ['id', 'scan_id', 'channel', 'attempts', 'event', 'payload'] as const;

function requestIdOfScan(e: ExpressionBuilder<Tables, 'outbox'>) {
  return e
    .selectFrom('scans')
    .select('scans.request_id')
    .whereRef('scans.scan_id', '=', 'outbox.scan_id')
    .as('request_id');
}

/** Pending notifications. Those of a scan are deleted with it. */
export class OutboxTable extends ViewedTable {
  /** @param owner sender, see `domain/executor.ts` */
  async add(
    scanId: string,
    channels: readonly string[],
    owner: string,
    tenant: string | null,
    now: number,
  ): Promise<void> {
    await this.#insert(channels, { scan_id: scanId, owner, tenant, next_at: now });
  }

  /** Adds a message without a scan, once for each channel. */
  async addNotice({ event, payload, channels, owner, tenant }: NewNotice, now: number): Promise<void> {
    const row = { event, payload: JSON.stringify(payload), owner, tenant, next_at: now };
    await this.#insert([...new Set(channels)], row);
  }

  /** One for each channel. */
  async #insert(
    channels: readonly string[],
    row: Omit<Insertable<OutboxTableRow>, 'id' | 'channel' | 'attempts'>,
  ): Promise<void> {
    const rows = channels.map((channel) => ({ ...row, id: randomUUID(), channel, attempts: 0 }));
    if (rows.length > 0) await this.db.insertInto('outbox').values(rows).execute();
  }

  /**
   * Deletes stale messages without a scan.
   *
   * @param before epoch milliseconds; deletes messages that were due earlier
   * @returns number of deleted messages
   */
  async deleteNoticesDueBefore(before: number): Promise<number> {
    const { numDeletedRows } = await this.db
      .deleteFrom('outbox')
      .where('scan_id', 'is', null)
      .where('next_at', '<', before)
      .where(inView(this.view))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }

  /**
   * Due notifications of a sender, oldest first.
   *
   * @param except channels to leave out; `<type>://` excludes all of that type
   */
  async due(
    owner: string,
    now: number,
    limit: number,
    except: readonly string[] = [],
  ): Promise<PendingNotification[]> {
    const types = except.filter((channel) => channel.endsWith('://'));
    const channels = except.filter((channel) => !channel.endsWith('://'));
    return await this.#pending()
      .where('owner', '=', owner)
      .where('next_at', '<=', now)
      .$if(channels.length > 0, (query) => query.where('channel', 'not in', channels))
      .where((e) => e.and(types.map((type) => e('channel', 'not like', `${type}%`))))
      .orderBy('next_at')
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /** Those of these ids that are still pending. */
  async ofIds(ids: readonly string[]): Promise<PendingNotification[]> {
    return await this.#pending().where('id', 'in', ids).execute();
  }

  /** Number of notifications of all senders. */
  async count(): Promise<number> {
    return await numberOfRows(this.db.selectFrom('outbox').where(inView(this.view)));
  }

  async ofScan(scanId: string): Promise<PendingNotification[]> {
    return await this.#pending().where('scan_id', '=', scanId).execute();
  }

  /** Stores the content of a notification: every attempt sends the same. */
  async describe(id: string, event: string, payload: object): Promise<void> {
    await this.#update(id)
      .set({ event, payload: JSON.stringify(payload) })
      .execute();
  }

  /** @param attempts attempts so far @param nextAt epoch milliseconds */
  async postpone(id: string, attempts: number, nextAt: number): Promise<void> {
    await this.#update(id).set({ attempts, next_at: nextAt }).execute();
  }

  async delete(id: string): Promise<void> {
    await this.db.deleteFrom('outbox').where('id', '=', id).where(inView(this.view)).execute();
  }

  /** All senders of pending notifications. */
  async owners(): Promise<string[]> {
    const rows = await this.db
      .selectFrom('outbox')
      .select('owner')
      .where(inView(this.view))
      .distinct()
      .execute();
    return rows.map((row) => row.owner);
  }

  /** Moves pending notifications, or those of these ids, from one sender to another. @returns ids of those that it still had */
  async handOver(from: string, to: string, ids: readonly string[] | null = null): Promise<string[]> {
    const rows = await this.#handOver(from, to)
      .$if(ids !== null, (query) => query.where('id', 'in', ids ?? []))
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Like `handOver`, for messages without a scan only. */
  async handOverNotices(from: string, to: string): Promise<void> {
    await this.#handOver(from, to).where('scan_id', 'is', null).execute();
  }

  #handOver(from: string, to: string) {
    return this.db
      .updateTable('outbox')
      .set({ owner: to })
      .where('owner', '=', from)
      .where(inView(this.view));
  }

  #pending() {
    return this.db.selectFrom('outbox').select(columns).select(requestIdOfScan).where(inView(this.view));
  }

  #update(id: string) {
    return this.db.updateTable('outbox').where('id', '=', id).where(inView(this.view));
  }
}

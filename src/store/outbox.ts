import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { OutboxTableRow, Tables } from './schema/tables.ts';
import { inView, type TenantView } from './tenant-view.ts';

/** A notification of an ended scan for one channel. */
export type PendingNotification = Pick<OutboxTableRow, 'id' | 'scan_id' | 'channel' | 'attempts'>;

const columns = ['id', 'scan_id', 'channel', 'attempts'] as const;

/** Notifications of ended scans that are not yet sent. They are deleted with their scan. */
export class OutboxTable {
  readonly #db: Kysely<Tables>;
  readonly #view: TenantView;

  constructor(db: Kysely<Tables>, view: TenantView) {
    this.#db = db;
    this.#view = view;
  }

  /** @param owner who sends, see `domain/executor.ts` */
  async add(
    scanId: string,
    channels: readonly string[],
    owner: string,
    tenant: string | null,
    now: number,
  ): Promise<void> {
    if (channels.length === 0) return;
    const rows = channels.map((channel) => ({
      id: randomUUID(),
      scan_id: scanId,
      channel,
      owner,
      attempts: 0,
      next_at: now,
      tenant,
    }));
    await this.#db.insertInto('outbox').values(rows).execute();
  }

  /** Due notifications of a sender, oldest first. */
  async due(owner: string, now: number, limit: number): Promise<PendingNotification[]> {
    return await this.#db
      .selectFrom('outbox')
      .select(columns)
      .where('owner', '=', owner)
      .where('next_at', '<=', now)
      .where(inView(this.#view))
      .orderBy('next_at')
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  async ofScan(scanId: string): Promise<PendingNotification[]> {
    return await this.#db
      .selectFrom('outbox')
      .select(columns)
      .where('scan_id', '=', scanId)
      .where(inView(this.#view))
      .execute();
  }

  /** @param attempts tries so far @param nextAt epoch milliseconds */
  async postpone(id: string, attempts: number, nextAt: number): Promise<void> {
    await this.#db
      .updateTable('outbox')
      .set({ attempts, next_at: nextAt })
      .where('id', '=', id)
      .where(inView(this.#view))
      .execute();
  }

  async delete(id: string): Promise<void> {
    await this.#db.deleteFrom('outbox').where('id', '=', id).where(inView(this.#view)).execute();
  }

  /** All senders of pending notifications. */
  async owners(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('outbox')
      .select('owner')
      .where(inView(this.#view))
      .distinct()
      .execute();
    return rows.map((row) => row.owner);
  }

  /** Moves pending notifications from one sender to another. */
  async handOver(from: string, to: string): Promise<void> {
    await this.#db
      .updateTable('outbox')
      .set({ owner: to })
      .where('owner', '=', from)
      .where(inView(this.#view))
      .execute();
  }
}

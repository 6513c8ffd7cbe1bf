import type { AlertStateTableRow } from './schema/tables.ts';
import { StoreTable } from './store-table.ts';

/** Identifies an alert: editing the condition makes it a new one. */
export type AlertKey = Pick<AlertStateTableRow, 'name' | 'condition_digest'>;

/** Alert states of the whole service. */
export class AlertStateTable extends StoreTable {
  async all(): Promise<AlertStateTableRow[]> {
    const rows = await this.db.selectFrom('alert_states').selectAll().orderBy('name').execute();
    return rows.map((row) => ({
      ...row,
      pending_ms: Number(row.pending_ms),
      quiet_ms: Number(row.quiet_ms),
    }));
  }

  /** Saves all rows in one statement: saving many rules one by one would block other writers. */
  async save(rows: readonly AlertStateTableRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.db
      .insertInto('alert_states')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['name', 'condition_digest']).doUpdateSet((e) => ({
          state: e.ref('excluded.state'),
          since: e.ref('excluded.since'),
          pending_ms: e.ref('excluded.pending_ms'),
          quiet_ms: e.ref('excluded.quiet_ms'),
          error: e.ref('excluded.error'),
        })),
      )
      .execute();
  }

  async delete(keys: readonly AlertKey[]): Promise<void> {
    for (const { name, condition_digest } of keys)
      await this.db
        .deleteFrom('alert_states')
        .where('name', '=', name)
        .where('condition_digest', '=', condition_digest)
        .execute();
  }
}

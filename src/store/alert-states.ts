import type { Kysely } from 'kysely';
import type { AlertStateTableRow, Tables } from './schema/tables.ts';

/** Identifies an alert: an edited condition is another one. */
export type AlertKey = Pick<AlertStateTableRow, 'name' | 'condition_digest'>;

/** What is remembered of the alerts of the whole service. */
export class AlertStateTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async all(): Promise<AlertStateTableRow[]> {
    const rows = await this.#db.selectFrom('alert_states').selectAll().orderBy('name').execute();
    return rows.map((row) => ({ ...row, held_ms: Number(row.held_ms), quiet_ms: Number(row.quiet_ms) }));
  }

  async save(row: AlertStateTableRow): Promise<void> {
    const { name: _name, condition_digest: _digest, ...rest } = row;
    await this.#db
      .insertInto('alert_states')
      .values(row)
      .onConflict((conflict) => conflict.columns(['name', 'condition_digest']).doUpdateSet(rest))
      .execute();
  }

  async delete({ name, condition_digest }: AlertKey): Promise<void> {
    await this.#db
      .deleteFrom('alert_states')
      .where('name', '=', name)
      .where('condition_digest', '=', condition_digest)
      .execute();
  }
}

import type { Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';

/** Files of finished scans, in parts. */
export class ResultObjectTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Stores a part; the first one, number 0, comes last and replaces the object. @param parts of the object */
  async put(name: string, part: number, parts: number, bytes: Buffer): Promise<void> {
    await this.#db
      .insertInto('result_objects')
      .values({ name, part, parts, bytes })
      .onConflict((conflict) => conflict.columns(['name', 'part']).doUpdateSet({ parts, bytes }))
      .execute();
  }

  /** Stores objects of one part each. */
  async putWhole(objects: readonly { name: string; bytes: Buffer }[]): Promise<void> {
    await this.#db
      .insertInto('result_objects')
      .values(objects.map((object) => ({ ...object, part: 0, parts: 1 })))
      .onConflict((conflict) =>
        conflict.columns(['name', 'part']).doUpdateSet((e) => ({
          parts: e.ref('excluded.parts'),
          bytes: e.ref('excluded.bytes'),
        })),
      )
      .execute();
  }

  /** Null if there is none. */
  async part(name: string, part: number): Promise<{ parts: number; bytes: Buffer } | null> {
    const row = await this.#db
      .selectFrom('result_objects')
      .select(['parts', 'bytes'])
      .where('name', '=', name)
      .where('part', '=', part)
      .executeTakeFirst();
    return row ? { parts: row.parts, bytes: Buffer.from(row.bytes) } : null;
  }

  async remove(name: string): Promise<void> {
    await this.#db.deleteFrom('result_objects').where('name', '=', name).execute();
  }
}

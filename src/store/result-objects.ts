import { numberOfRows } from './list-count.ts';
import { StoreTable } from './store-table.ts';

/** Files of finished scans, in parts. */
export class ResultObjectTable extends StoreTable {
  /** Stores a part; the first one, number 0, comes last and replaces the object. @param parts of the object */
  async put(name: string, part: number, parts: number, bytes: Buffer): Promise<void> {
    await this.db
      .insertInto('result_objects')
      .values({ name, part, parts, bytes })
      .onConflict((conflict) => conflict.columns(['name', 'part']).doUpdateSet({ parts, bytes }))
      .execute();
  }

  /** Stores objects of one part each. */
  async putWhole(objects: readonly { name: string; bytes: Buffer }[]): Promise<void> {
    await this.db
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
    const row = await this.db
      .selectFrom('result_objects')
      .select(['parts', 'bytes'])
      .where('name', '=', name)
      .where('part', '=', part)
      .executeTakeFirst();
    return row ? { parts: row.parts, bytes: Buffer.from(row.bytes) } : null;
  }

  /** Names of whole objects that end like this, in order. @param after exclusive */
  async namesEndingWith(end: string, after: string, limit: number): Promise<string[]> {
    const rows = await this.db
      .selectFrom('result_objects')
      .select('name')
      .where('part', '=', 0)
      .where('name', '>', after)
      .where('name', 'like', `%${end}`)
      .orderBy('name')
      .limit(limit)
      .execute();
    return rows.map(({ name }) => name);
  }

  /** Number of whole objects whose names end like this. */
  async countEndingWith(end: string): Promise<number> {
    return await numberOfRows(
      this.db.selectFrom('result_objects').where('part', '=', 0).where('name', 'like', `%${end}`),
    );
  }

  async remove(name: string): Promise<void> {
    await this.db.deleteFrom('result_objects').where('name', '=', name).execute();
  }
}

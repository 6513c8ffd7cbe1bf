import type { Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';
import type { TenantView } from './tenant-view.ts';

/** A table of the store, or several that belong together. */
export abstract class StoreTable {
  protected readonly db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }
}

/** One whose rows belong to tenants. */
export abstract class ViewedTable extends StoreTable {
  protected readonly view: TenantView;

  /** @param view tenant whose rows are visible */
  constructor(db: Kysely<Tables>, view: TenantView) {
    super(db);
    this.view = view;
  }
}

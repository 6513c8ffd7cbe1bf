import type { Kysely } from 'kysely';
import type { Tables, TokenTableRow } from './schema/tables.ts';
import { ViewedTable } from './store-table.ts';
import { inView, type TenantView } from './tenant-view.ts';

/** A stored token: only digests of its secret. Times are ISO 8601 UTC. */
export interface TokenRecord {
  id: string;
  name: string;
  /** SHA-256 of the secret, hex. */
  digest: string;
  /** Digest of the secret before a rotation, valid until `previous_until`. */
  previous_digest: string | null;
  previous_until: string | null;
  scopes: string[];
  tenant: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export class TokenTable extends ViewedTable {
  /** @param view a tenant sees the tokens bound to it; everybody else sees all */
  constructor(db: Kysely<Tables>, view: TenantView) {
    super(db, view ?? undefined);
  }

  async insert(token: TokenRecord): Promise<void> {
    await this.db
      .insertInto('tokens')
      .values({ ...token, scopes: JSON.stringify(token.scopes) })
      .execute();
  }

  async find(id: string): Promise<TokenRecord | null> {
    const row = await this.db
      .selectFrom('tokens')
      .selectAll()
      .where('id', '=', id)
      .where(inView(this.view))
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** Oldest first. */
  async list(): Promise<TokenRecord[]> {
    const rows = await this.db
      .selectFrom('tokens')
      .selectAll()
      .where(inView(this.view))
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map(fromRow);
  }

  /** @returns whether the token exists */
  async update(id: string, patch: Partial<Omit<TokenRecord, 'id'>>): Promise<boolean> {
    const { scopes, ...columns } = patch;
    const changes: Partial<TokenTableRow> = scopes ? { ...columns, scopes: JSON.stringify(scopes) } : columns;
    if (Object.keys(changes).length === 0) return (await this.find(id)) !== null;
    const result = await this.db
      .updateTable('tokens')
      .set(changes)
      .where('id', '=', id)
      .where(inView(this.view))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }
}

function fromRow(row: TokenTableRow): TokenRecord {
  return { ...row, scopes: JSON.parse(row.scopes) as string[] };
}

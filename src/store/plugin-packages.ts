import type { PluginPackageTableRow } from './schema/tables.ts';
import { StoreTable } from './store-table.ts';

/** A package without its bytes. */
export type PackageEntry = Omit<PluginPackageTableRow, 'bytes' | 'signature'>;

/** What identifies a package. */
export type PackageKey = Pick<PluginPackageTableRow, 'name' | 'version' | 'sha256'>;

/** The packages of plugins of the whole service. */
export class PluginPackageTable extends StoreTable {
  /** By name, the newest of a name first. */
  async list(): Promise<PackageEntry[]> {
    return await this.db
      .selectFrom('plugin_packages')
      .select(['name', 'version', 'sha256', 'state', 'installed_at', 'source', 'file_name'])
      .orderBy('name')
      .orderBy('installed_at', 'desc')
      .execute();
  }

  async get({ name, version, sha256 }: PackageKey): Promise<PluginPackageTableRow | null> {
    const row = await this.db
      .selectFrom('plugin_packages')
      .selectAll()
      .where('name', '=', name)
      .where('version', '=', version)
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    return row ? { ...row, bytes: Buffer.from(row.bytes) } : null;
  }

  /** Stores a package, or its new state and signature. An installed one replaces the one installed under its name. */
  async put(row: PluginPackageTableRow): Promise<void> {
    if (row.state === 'installed') await this.#setState(row.name, 'kept', row.installed_at, 'installed');
    await this.db
      .insertInto('plugin_packages')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['name', 'version', 'sha256']).doUpdateSet((e) => ({
          state: e.ref('excluded.state'),
          installed_at: e.ref('excluded.installed_at'),
          source: e.ref('excluded.source'),
          signature: e.ref('excluded.signature'),
        })),
      )
      .execute();
  }

  /** Its bytes stay for scans that were planned with it. @param at ISO 8601 UTC */
  async markRemoved(name: string, at: string): Promise<void> {
    await this.#setState(name, 'removed', at, 'installed');
  }

  async #setState(
    name: string,
    state: PluginPackageTableRow['state'],
    at: string,
    before: PluginPackageTableRow['state'],
  ): Promise<void> {
    await this.db
      .updateTable('plugin_packages')
      .set({ state, installed_at: at })
      .where('name', '=', name)
      .where('state', '=', before)
      .execute();
  }

  /** Deletes what is not installed and did not change since then, ISO 8601 UTC. */
  async deleteOld(before: string): Promise<void> {
    await this.db
      .deleteFrom('plugin_packages')
      .where('state', '!=', 'installed')
      .where('installed_at', '<', before)
      .execute();
  }
}

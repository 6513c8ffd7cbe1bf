import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isDamage } from './sqlite/sqlite-file.ts';

/** Faults that SQLite reports for a store file; empty if it is sound or missing. Read-only. */
export function storeFaults(file: string): string[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    return quickCheck(database, '20');
  } catch (error) {
    if (!isDamage(error)) throw error;
    // A page that SQLite cannot read at all ends the check of the whole file.
    const tables = damagedTables(database);
    const { message } = error as Error;
    return [tables.length === 0 ? message : `${message}: tables ${tables.join(', ')}`];
  } finally {
    database.close();
  }
}

function quickCheck(database: DatabaseSync, what: string): string[] {
  const rows = database.prepare(`pragma quick_check(${what})`).all() as { quick_check: string }[];
  return rows.map(({ quick_check }) => quick_check).filter((text) => text !== 'ok');
}

/** Tables with a fault in them or their indexes; none if the list of tables cannot be read either. */
function damagedTables(database: DatabaseSync): string[] {
  try {
    const rows = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const names = (rows as { name: string }[]).map(({ name }) => name);
    return names.filter((name) => isDamaged(database, name));
  } catch {
    return [];
  }
}

function isDamaged(database: DatabaseSync, table: string): boolean {
  try {
    return quickCheck(database, `"${table}"`).length > 0;
  } catch {
    return true;
  }
}

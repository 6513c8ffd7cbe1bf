import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Faults that SQLite reports for a store file; empty if it is sound or missing. Read-only. */
export function storeFaults(file: string): string[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    const rows = database.prepare('pragma quick_check(20)').all() as { quick_check: string }[];
    return rows.map(({ quick_check }) => quick_check).filter((text) => text !== 'ok');
  } finally {
    database.close();
  }
}

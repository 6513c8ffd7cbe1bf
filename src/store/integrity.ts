import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Faults of a store file that SQLite finds, in its words; none when it is sound or not there. Nothing is changed. */
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

import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';

/** Folder of the imported vulnerability data. */
export function vulndbFolder({ vulndb, workspace }: Pick<Config, 'vulndb' | 'workspace'>): string {
  return vulndb.dir || join(workspace.dir, 'cache', 'vulndb');
}

import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/schema.ts';
import type { Store } from '../../store/open.ts';
import { DatabaseObjects, type ObjectTable } from './database-objects.ts';
import { DirectoryStore } from './directory-store.ts';
import type { ObjectStore } from './object-store.ts';
import { ResultStore } from './result-store.ts';
import { StagedResults } from './staged-results.ts';

/** Results in the shared database, where they stay or wait for the result store; null without such a database. */
export function databaseResults(
  config: Pick<Config, 'workspace' | 'queue'>,
  objects: ObjectTable,
): ResultStore | null {
  return keepsInDatabase(config) ? new ResultStore(new DatabaseObjects(objects)) : null;
}

/** Without a workspace nothing is kept. */
function keepsInDatabase({ workspace, queue }: Pick<Config, 'workspace' | 'queue'>): boolean {
  return queue.url !== null && workspace.enabled;
}

/**
 * The result store of `workspace.result_store`; without one that of the shared database, if there is one. A directory is checked now; a service on first
 * use.
 * @throws PortolanError `configuration` for a directory that is missing or not writable
 */
export async function openResultStore(
  config: Pick<Config, 'workspace' | 'queue'>,
  { resultObjects }: Pick<Store, 'resultObjects'>,
): Promise<ResultStore | null> {
  const objects = await openObjects(config.workspace.result_store);
  if (objects === null) return databaseResults(config, resultObjects);
  if (!keepsInDatabase(config)) return new ResultStore(objects);
  return new StagedResults(resultObjects, objects);
}

async function openObjects({ url, s3 }: Config['workspace']['result_store']): Promise<ObjectStore | null> {
  if (url === null) return null;
  if (url.startsWith('file:')) {
    const directory = new DirectoryStore(fileURLToPath(url));
    await directory.check();
    return directory;
  }
  const { S3Store } = await import('./s3-store.ts');
  const [bucket = '', ...prefix] = url.slice('s3://'.length).split('/');
  return new S3Store({
    endpoint: s3.endpoint ?? '',
    region: s3.region,
    bucket,
    prefix: prefix.filter((part) => part !== '').join('/'),
    accessKey: s3.access_key ?? '',
    secretKey: s3.secret_key ?? '',
  });
}

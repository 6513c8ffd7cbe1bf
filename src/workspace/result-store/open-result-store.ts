import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/schema.ts';
import type { Store } from '../../store/open.ts';
import { DatabaseObjects } from './database-objects.ts';
import { DirectoryStore } from './directory-store.ts';
import { ResultStore } from './result-store.ts';

/** The result store in the shared database; null if there is none, or another one is configured. */
export function databaseResults(
  { workspace, queue }: Pick<Config, 'workspace' | 'queue'>,
  store: Pick<Store, 'resultObjects'>,
): ResultStore | null {
  // Without a workspace nothing is kept.
  const isUsed = workspace.result_store.url === null && queue.url !== null && workspace.enabled;
  return isUsed ? new ResultStore(new DatabaseObjects(store)) : null;
}

/**
 * The result store of `workspace.result_store`; without one that of the shared database, if there is one. A directory is checked now; a service on first
 * use.
 * @throws PortolanError `configuration` for a directory that is missing or not writable
 */
export async function openResultStore(
  { workspace, queue }: Pick<Config, 'workspace' | 'queue'>,
  store: Pick<Store, 'resultObjects'>,
): Promise<ResultStore | null> {
  const { url, s3 } = workspace.result_store;
  if (url === null) return databaseResults({ workspace, queue }, store);
  if (url.startsWith('file:')) {
    const directory = new DirectoryStore(fileURLToPath(url));
    await directory.check();
    return new ResultStore(directory);
  }
  const { S3Store } = await import('./s3-store.ts');
  const [bucket = '', ...prefix] = url.slice('s3://'.length).split('/');
  return new ResultStore(
    new S3Store({
      endpoint: s3.endpoint ?? '',
      region: s3.region,
      bucket,
      prefix: prefix.filter((part) => part !== '').join('/'),
      accessKey: s3.access_key ?? '',
      secretKey: s3.secret_key ?? '',
    }),
  );
}

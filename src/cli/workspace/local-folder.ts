import { PortolanError } from '../../domain/errors.ts';
import { serverOf } from '../../domain/executor.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Session } from '../session/session.ts';

/** @throws PortolanError `not_found` for the scan of another server that shares the store */
export async function localFolder({ store, workspace }: Session, id: string): Promise<ScanFolder> {
  const folder = workspace.forTenant(await store.scans.tenantOf(id)).scan(id);
  if (await folder.exists()) return folder;
  const home = await store.scans.ownerOf(id);
  const server = home === null ? null : await store.hosts.server(home);
  const place = server
    ? `they are on the server ${server.url}: pass it with --server`
    : home === null || home === serverOf(store.executor)
      ? 'its folder is missing'
      : 'they are in the workspace of another host';
  throw new PortolanError('not_found', `The results of the scan ${id} are not in this workspace: ${place}.`);
}

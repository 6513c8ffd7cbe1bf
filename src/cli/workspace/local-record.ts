import { PortolanError } from '../../domain/errors.ts';
import { serverOf } from '../../domain/executor.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { Session } from '../session/session.ts';

type Place = Pick<Session, 'store' | 'workspace'>;

/** The record of a scan in this workspace, whether it is there or not. */
export async function storedRecord({ store, workspace }: Place, id: string): Promise<ScanRecord> {
  return recordIn(workspace.forTenant(await store.scans.tenantOf(id)).scan(id));
}

/** @throws PortolanError `not_found` for the scan of another server that shares the store */
export async function localRecord(session: Place, id: string): Promise<ScanRecord> {
  const { store } = session;
  const record = await storedRecord(session, id);
  if (await record.exists()) return record;
  const home = await store.scans.ownerOf(id);
  const server = home === null ? null : await store.hosts.server(home);
  const place = server
    ? `they are on the server ${server.url}: pass it with --server`
    : home === null || home === serverOf(store.executor)
      ? 'its folder is missing'
      : 'they are in the workspace of another host';
  throw new PortolanError('not_found', `The results of the scan ${id} are not in this workspace: ${place}.`);
}

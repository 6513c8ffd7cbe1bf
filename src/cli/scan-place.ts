import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { openStore, type Store } from '../store/open.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';

/** Where a scan of this command line is kept: in the workspace, in a temporary folder, or at the server in charge. */
export type ScanPlace = LocalPlace | { kind: 'server'; url: string };

export interface LocalPlace {
  kind: 'workspace' | 'temporary';
  workspace: Workspace;
  /** Null in a temporary folder: nothing is listed anywhere. */
  store: Store | null;
  close(): Promise<void>;
}

/** @throws PortolanError `configuration` when the workspace cannot be used */
export async function openScanPlace(config: Config): Promise<ScanPlace> {
  if (!config.workspace.enabled) return openTemporary();
  const workspace = await openWorkspace(config.workspace.dir);
  const holder = await workspace.lockHolder();
  if (holder?.url) return { kind: 'server', url: holder.url };
  const store = await openStore(workspace.storeFile);
  return { kind: 'workspace', workspace, store, close: () => store.close() };
}

async function openTemporary(): Promise<LocalPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    return { kind: 'temporary', workspace: await openWorkspace(join(folder, 'workspace')), store: null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

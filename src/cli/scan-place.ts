import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { openStore, type Store } from '../store/open.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';
import { chosenTenant } from './tenant-choice.ts';

/** Where a scan of this command line is kept. */
export interface ScanPlace {
  workspace: Workspace;
  /** Null in a temporary folder: nothing is listed anywhere. */
  store: Store | null;
  close(): Promise<void>;
}

/** @throws PortolanError `configuration` when the workspace cannot be used, `tenant_forbidden` */
export async function openPlace(config: Config): Promise<ScanPlace> {
  if (!config.workspace.enabled) return openTemporary();
  const workspace = await openWorkspace(config.workspace.dir);
  const tenant = chosenTenant(config);
  if (tenant !== null) await workspace.makeTenants([tenant]);
  const store = await openStore(workspace.storeFile);
  return {
    workspace: workspace.forTenant(tenant),
    store: store.forTenant(tenant),
    close: () => store.close(),
  };
}

async function openTemporary(): Promise<ScanPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    return { workspace: await openWorkspace(join(folder, 'workspace')), store: null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

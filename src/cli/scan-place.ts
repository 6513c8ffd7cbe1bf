import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { Store } from '../store/open.ts';
import { openScanRows, type ScanRows } from '../store/scan-rows.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';
import { chosenTenant } from './tenant-choice.ts';

/** Where a scan of this command line is kept. */
export interface ScanPlace {
  workspace: Workspace;
  /** Null in a temporary folder: nothing is listed anywhere. */
  store: PlaceStore | null;
  close(): Promise<void>;
}

/** The store, which is opened as far as it is needed. */
export interface PlaceStore {
  /** For the rows of a scan. */
  rows: ScanRows;
  /** For everything else. @throws PortolanError */
  whole(): Promise<Store>;
}

/** @throws PortolanError `configuration` when the workspace cannot be used, `tenant_forbidden` */
export async function openPlace(config: Config): Promise<ScanPlace> {
  if (!config.workspace.enabled) return openTemporary();
  const workspace = await openWorkspace(config.workspace.dir);
  const tenant = chosenTenant(config);
  if (tenant !== null) await workspace.makeTenants([tenant]);
  const rows = await openScanRows(workspace.storeFile, tenant);
  let whole: Promise<Store> | null = null;
  const open = async () => {
    const { openStore } = await import('../store/open.ts');
    return await openStore(workspace.storeFile);
  };
  return {
    workspace: workspace.forTenant(tenant),
    store: {
      rows,
      whole: async () => {
        whole ??= open();
        return (await whole).forTenant(tenant);
      },
    },
    close: async () => {
      await whole?.then((store) => store.close());
      rows.close();
    },
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

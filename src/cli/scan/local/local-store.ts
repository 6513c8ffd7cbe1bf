import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { commandLineExecutor } from '../../../domain/executor.ts';
import type { Store } from '../../../store/open.ts';
import { openScanRows, type ScanRows } from '../../../store/scans/scan-rows.ts';
import { openWorkspace, type Workspace } from '../../../workspace/workspace.ts';
import { chosenTenant } from '../../session/tenant-choice.ts';

/** Workspace and store of a local scan. */
export interface LocalScanStore {
  workspace: Workspace;
  /** Null with --no-workspace: the scan is not listed anywhere. */
  store: LocalMetadata | null;
  close(): Promise<void>;
}

/** The store, opened on demand. */
export interface LocalMetadata {
  /** Executor of local scans, see `domain/executor.ts`. */
  executor: string;
  /** For the rows of a scan. */
  rows: ScanRows;
  /** For everything else. @throws PortolanError */
  whole(): Promise<Store>;
}

/**
 * @throws PortolanError `configuration` when the workspace cannot be used, `tenant_forbidden`, `unavailable` when the
 *   database cannot be reached
 */
export async function openLocalScanStore(config: Config): Promise<LocalScanStore> {
  if (!config.workspace.enabled) return openTemporary();
  const workspace = await openWorkspace(config.workspace.dir);
  const tenant = chosenTenant(config);
  if (tenant !== null) await workspace.makeTenants([tenant]);
  const { url } = config.queue;
  return url === null ? await openOwn(workspace, tenant) : await openShared(url, workspace, tenant);
}

async function openOwn(workspace: Workspace, tenant: string | null): Promise<LocalScanStore> {
  const rows = await openScanRows(workspace.storeFile, tenant);
  let whole: Promise<Store> | null = null;
  const open = async () => {
    const { openStore } = await import('../../../store/open.ts');
    return await openStore(workspace.storeFile);
  };
  return {
    workspace: workspace.forTenant(tenant),
    store: {
      executor: commandLineExecutor(process.pid, null),
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

/** In a store shared by servers, the scan belongs to the server of this workspace, whether it runs or not. */
async function openShared(url: string, workspace: Workspace, tenant: string | null): Promise<LocalScanStore> {
  const [{ openStore }, { serverId }] = await Promise.all([
    import('../../../store/open.ts'),
    import('../../../workspace/server-id.ts'),
  ]);
  const home = await serverId(workspace.dir);
  const whole = await openStore(url, home);
  const store = whole.forTenant(tenant);
  return {
    workspace: workspace.forTenant(tenant),
    store: { executor: commandLineExecutor(process.pid, home), rows: store, whole: async () => store },
    close: () => whole.close(),
  };
}

async function openTemporary(): Promise<LocalScanStore> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    return { workspace: await openWorkspace(join(folder, 'workspace')), store: null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { openStore, type Store } from '../store/open.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';

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

/** Whose the scan will be; null without tenants. @throws PortolanError `tenant_forbidden` */
function chosenTenant({
  multi_tenant: { enabled, tenants, default_tenant: byDefault },
}: Config): string | null {
  if (!enabled) return null;
  const tenant = process.env['SERVICE_TENANT_ID'] || byDefault;
  if (tenant === null || tenants.includes(tenant)) return tenant;
  throw new PortolanError('tenant_forbidden', 'SERVICE_TENANT_ID is not in multi_tenant.tenants');
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

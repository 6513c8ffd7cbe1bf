import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { Client } from './client.ts';
import type { ServerFlags } from './server-flags.ts';
import { readConfigQuietly } from './session.ts';

/**
 * The server for a command: `--server`, else SERVICE_SERVER, else the one that has the workspace locked. Null when there
 * is none; the command may then use the workspace itself.
 */
export async function findServer(flags: ServerFlags, global: GlobalFlags): Promise<Client | null> {
  const named = await namedClient(flags, global);
  if (named) return named;
  const { config } = await readConfigQuietly(global);
  const url = await serverInCharge(config);
  if (url !== null) await trustFlags(flags);
  return url === null ? null : clientOf(url, flags);
}

/** The server named by flag or environment, or null. */
export async function namedClient(flags: ServerFlags, global: GlobalFlags): Promise<Client | null> {
  const url = namedServer(flags);
  if (url === null) return null;
  // The configuration may name the certificate to trust; its errors do not matter for another server.
  if (/^https:/i.test(url)) await readConfigQuietly(global).catch(() => undefined);
  await trustFlags(flags);
  return clientOf(url, flags);
}

/** Trusts the authorities of `--ca-file`. @throws PortolanError `configuration` for a file without certificates */
export async function trustFlags({ caFile }: ServerFlags): Promise<void> {
  if (caFile === undefined) return;
  const { trustAuthorities } = await import('./local-certificate.ts');
  await trustAuthorities(caFile);
}

/** The same for commands that need a server. @throws PortolanError `network` when there is none */
export async function requireServer(flags: ServerFlags, global: GlobalFlags): Promise<Client> {
  const client = await findServer(flags, global);
  if (client) return client;
  throw new PortolanError(
    'network',
    'no server runs on this workspace; name one with --server or SERVICE_SERVER, or start one: portolan server start',
  );
}

/** URL given by flag or environment, or null. */
function namedServer(flags: ServerFlags): string | null {
  return flags.server ?? (process.env['SERVICE_SERVER'] || null);
}

/** A client for a server, with the token given by flag or environment. */
export function clientOf(url: string, flags: ServerFlags): Client {
  const token = flags.apiToken ?? (process.env['SERVICE_API_TOKEN'] || null);
  return new Client({ url, token, tenant: flags.tenant ?? null });
}

/** URL of the server that has the workspace locked, or null. Writes nothing. */
export async function serverInCharge({ workspace }: Config): Promise<string | null> {
  if (!workspace.enabled) return null;
  const { findLockHolder } = await import('../../workspace/workspace-lock.ts');
  return (await findLockHolder(workspace.dir))?.url || null;
}

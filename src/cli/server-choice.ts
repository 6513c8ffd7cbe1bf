import { Option } from 'commander';
import { PortolanError } from '../domain/errors.ts';
import { Client } from './client.ts';
import type { GlobalFlags } from './globals.ts';
import { readConfigQuietly } from './session.ts';

/** Flags of every command that can work on a server. */
export interface ServerFlags {
  server?: string;
  apiToken?: string;
}

export function serverOption(): Option {
  return new Option('--server <url>', 'on this server (environment: SERVICE_SERVER)');
}

export function tokenOption(): Option {
  return new Option('--api-token <token>', 'token for the server (environment: SERVICE_API_TOKEN)');
}

/**
 * The server that a command works on: `--server`, else SERVICE_SERVER, else the one that holds the workspace. Null
 * when there is none; then the command may work on the workspace itself.
 */
export async function findServer(flags: ServerFlags, global: GlobalFlags): Promise<Client | null> {
  const named = await namedClient(flags, global);
  if (named) return named;
  const url = await holderUrl(global);
  return url === null ? null : clientOf(url, flags);
}

/** The server that flag or environment name, or null. */
export async function namedClient(flags: ServerFlags, global: GlobalFlags): Promise<Client | null> {
  const url = namedServer(flags);
  if (url === null) return null;
  // The configuration may name the certificate to trust; one that is wrong is no matter of another server.
  if (/^https:/i.test(url)) await readConfigQuietly(global).catch(() => undefined);
  return clientOf(url, flags);
}

/** The same for commands that only a server can do. @throws PortolanError `network` when there is none */
export async function requireServer(flags: ServerFlags, global: GlobalFlags): Promise<Client> {
  const client = await findServer(flags, global);
  if (client) return client;
  throw new PortolanError(
    'network',
    'no server runs on this workspace; name one with --server or SERVICE_SERVER, or start one: portolan server start',
  );
}

/** URL that was asked for by flag or environment, or null. */
function namedServer(flags: ServerFlags): string | null {
  return flags.server ?? (process.env['SERVICE_SERVER'] || null);
}

/** A client for a server, with the token that was given by flag or environment. */
export function clientOf(url: string, flags: ServerFlags): Client {
  return new Client({ url, token: flags.apiToken ?? (process.env['SERVICE_API_TOKEN'] || null) });
}

async function holderUrl(global: GlobalFlags): Promise<string | null> {
  const { config } = await readConfigQuietly(global);
  if (!config.workspace.enabled) return null;
  const { findLockHolder } = await import('../workspace/workspace-lock.ts');
  return (await findLockHolder(config.workspace.dir))?.url || null;
}

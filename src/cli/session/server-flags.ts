import { Option } from 'commander';

/** Flags of every command that can use a server. */
export interface ServerFlags {
  server?: string;
  apiToken?: string;
  /** Default: SERVICE_TENANT_ID. */
  tenant?: string;
}

export function serverOption(): Option {
  return new Option('--server <url>', 'server to use (environment: SERVICE_SERVER)');
}

export function tokenOption(): Option {
  return new Option('--api-token <token>', 'token for the server (environment: SERVICE_API_TOKEN)');
}

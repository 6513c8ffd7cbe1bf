import { Option } from 'commander';

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

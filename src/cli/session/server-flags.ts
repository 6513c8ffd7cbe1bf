import { Option } from 'commander';

/** Flags of every command that can use a server. */
export interface ServerFlags {
  server?: string;
  apiToken?: string;
  /** Default: SERVICE_TENANT_ID. */
  tenant?: string;
  /** File of certificates of authorities to trust in addition (PEM). */
  caFile?: string;
}

export function serverOptions(): Option[] {
  return [serverOption(), tokenOption(), caFileOption()];
}

function serverOption(): Option {
  return new Option('--server <url>', 'server to use (environment: SERVICE_SERVER)');
}

/** `--ca-file`, for a server whose certificate comes from a private authority. */
export function caFileOption(): Option {
  return new Option('--ca-file <file>', 'also trust the authorities in this file (PEM) for the server');
}

export function tokenOption(): Option {
  return new Option('--api-token <token>', 'token for the server (environment: SERVICE_API_TOKEN)');
}

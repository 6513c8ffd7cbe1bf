import type { Config } from './schema.ts';

type Addressed = Pick<Config['server'], 'public_url'>;

/** Absolute URL of a path with `server.public_url`, else the path unchanged. */
export function publicAddress({ public_url }: Addressed, path: string): string {
  return `${public_url ?? ''}${path}`;
}

/** URL of a scan in the Web UI, for notifications; null without `server.public_url`. */
export function scanPage(server: Addressed & Pick<Config['server'], 'ui'>, scanId: string): string | null {
  return server.public_url === null ? null : publicAddress(server, `${server.ui.path}/scans/${scanId}`);
}

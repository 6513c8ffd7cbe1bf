import type { Config } from './schema.ts';

type Addressed = Pick<Config['server'], 'public_url'>;

/** Where clients find a path of this server: a whole URL with `server.public_url`, else the path as it is. */
export function publicAddress({ public_url }: Addressed, path: string): string {
  return `${public_url ?? ''}${path}`;
}

/** The page of a scan in the Web UI, for messages; null without `server.public_url`. */
export function scanPage(server: Addressed & Pick<Config['server'], 'ui'>, scanId: string): string | null {
  return server.public_url === null ? null : publicAddress(server, `${server.ui.path}/scans/${scanId}`);
}

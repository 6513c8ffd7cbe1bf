import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';

/**
 * Commands that delete or repair need a local store: the scans of a shared one are in several workspaces.
 * @throws PortolanError `configuration`
 */
export function requireLocalStore({ queue }: Config): void {
  if (queue.url === null) return;
  const message =
    'The store is shared by several servers (queue.url): run this on a server, with --server or while it runs.';
  throw new PortolanError('configuration', message);
}

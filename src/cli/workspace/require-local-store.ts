import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';

/**
 * What deletes or mends needs the store for itself: of one that servers share, the scans lie in many workspaces.
 * @throws PortolanError `configuration`
 */
export function requireLocalStore({ queue }: Config): void {
  if (queue.url === null) return;
  const message =
    'The store is that of several servers (queue.url): let the server do it, with --server or while it runs.';
  throw new PortolanError('configuration', message);
}

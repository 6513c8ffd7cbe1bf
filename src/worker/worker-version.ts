import { PortolanError } from '../domain/errors.ts';
import { majorOf } from '../domain/version.ts';
import type { ServerTableRow } from '../store/schema/tables.ts';

/**
 * Worker and server exchange records and checkpoints, whose format may change with a major version.
 * @throws PortolanError `configuration`
 */
export function requireSameMajor(server: Pick<ServerTableRow, 'url' | 'version'>, version: string): void {
  if (majorOf(server.version) === majorOf(version)) return;
  throw new PortolanError(
    'configuration',
    `the server at ${server.url} is portolan ${server.version} and this worker is ${version}: ` +
      'install the same major version on both',
  );
}

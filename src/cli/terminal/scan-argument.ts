import { Argument } from 'commander';

/** Stands for the newest scan. */
export const latestScan = 'latest';

/** An argument that names a scan. */
export function scanArgument(name = '<id>'): Argument {
  return new Argument(name, 'scan id, its beginning or latest');
}

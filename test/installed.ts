import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Debian keeps daemons; not every user has it in the path. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };

/**
 * Whether something is there that a test needs. With CI=true it must be: `npm run setup:test` installs what is missing.
 *
 * @param name of a program, or the path of a file
 */
export function isInstalled(name: string): boolean {
  const isThere = name.startsWith('/') ? existsSync(name) : spawnSync('which', [name], { env }).status === 0;
  if (isThere) return true;
  if (process.env['CI'] === 'true') throw new Error(`${name} is not installed: npm run setup:test`);
  console.log(`skipped: ${name}, which some of these tests need, is not installed`);
  return false;
}

import { spawnSync } from 'node:child_process';

/** Where Debian keeps daemons; not every user has it in the path. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };

/**
 * Whether a program is there that a test starts. With CI=true it must be: `npm run setup:test` installs what is
 * missing.
 */
export function isInstalled(program: string): boolean {
  if (spawnSync('which', [program], { env }).status === 0) return true;
  if (process.env['CI'] === 'true') throw new Error(`${program} is not installed: npm run setup:test`);
  console.log(`skipped: ${program}, which some of these tests start, is not installed`);
  return false;
}

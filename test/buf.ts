import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from './program.ts';

/** Programs of this checkout, such as the plugin of buf that writes the code. */
const tools = join(root, 'node_modules', '.bin');

/** For buf: with the programs of this checkout in the path. */
export const bufEnv = { ...process.env, PATH: `${tools}${delimiter}${process.env['PATH']}` };

/**
 * The file of the buf that `npm run buf` runs, from npm's cache; with CI=true it is fetched. Null, with the reason on the
 * screen, where it is not.
 */
export function installedBuf(): string | null {
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as { buf: string };
  const [version = ''] = /@bufbuild\/buf@\S+/.exec(scripts.buf) ?? [];
  const isFetched = process.env['CI'] === 'true';
  const args = ['exec', '--yes', ...(isFetched ? [] : ['--offline']), `--package=${version}`, '--'];
  const found = spawnSync('npm', [...args, 'sh', '-c', 'command -v buf'], { cwd: root, encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  if (isFetched) throw new Error(`npm cannot install ${version}:\n${found.stderr}`);
  console.log(`skipped: ${version}, which some of these tests need, is not in npm's cache: npm run buf`);
  return null;
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { root } from './program.ts';

interface Buf {
  path: string;
  /** With the plugin of buf that writes the code in the path. */
  env: NodeJS.ProcessEnv;
}

/**
 * The buf that `npm run buf` runs, from npm's cache; with CI=true it is fetched. Null, with the reason on the screen,
 * where it is not.
 */
export function installedBuf(): Buf | null {
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as { buf: string };
  const packages = scripts.buf.match(/--package=\S+/g) ?? [];
  const isFetched = process.env['CI'] === 'true';
  const args = ['exec', '--yes', ...(isFetched ? [] : ['--offline']), ...packages, '--'];
  const find = 'command -v buf && command -v protoc-gen-es';
  const found = spawnSync('npm', [...args, 'sh', '-c', find], { cwd: root, encoding: 'utf8' });
  if (found.status === 0) {
    const [path = '', plugin = ''] = found.stdout.trim().split('\n');
    return { path, env: { ...process.env, PATH: `${dirname(plugin)}${delimiter}${process.env['PATH']}` } };
  }
  if (isFetched) throw new Error(`npm cannot install the packages of \`npm run buf\`:\n${found.stderr}`);
  console.log(
    "skipped: buf and its plugin, which some of these tests need, are not in npm's cache: npm run buf",
  );
  return null;
}

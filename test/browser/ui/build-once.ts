import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../program.ts';

/** Before the browser tests: the servers that they start send what this checkout builds. */
export default function setup(): void {
  const run = spawnSync(process.execPath, [join(root, 'build.ts'), 'ui'], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`the Web UI was not built:\n${run.stdout}${run.stderr}`);
}

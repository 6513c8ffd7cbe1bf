/**
 * `prepare` of npm: bundles the program and builds the Web UI after `npm ci` in a checkout. Any Node can read this file; the build runs on the one
 * that the package pins, else on this one when it is new enough.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const neededMajor = 24;
const root = dirname(fileURLToPath(import.meta.url));
const own = Number(process.versions.node.split('.')[0]) >= neededMajor ? [process.execPath] : [];
const ended = firstThatStarts([...pinned(), ...own]);

if (ended === null)
  console.log(`Program and Web UI not built: Node.js ${neededMajor} is not installed (--omit=optional?)`);
process.exitCode = ended === null ? 0 : (ended.status ?? 1);

/** @returns how the build ended; null if none of these programs can be started */
function firstThatStarts(programs) {
  for (const program of programs) {
    const run = spawnSync(program, [join(root, 'build.ts'), 'prepare'], { stdio: 'inherit' });
    if (run.error === undefined) return run;
  }
  return null;
}

function pinned() {
  try {
    const name = `node-${process.platform}-${process.arch}/package.json`;
    return [join(dirname(createRequire(import.meta.url).resolve(name)), 'bin', 'node')];
  } catch {
    return [];
  }
}

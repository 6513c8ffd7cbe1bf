/**
 * Compiles src/ to dist/ for the packed program: Node strips types of the sources in a checkout, but refuses to do so
 * under node_modules. Starts from an empty dist/, so that nothing of an earlier build is packed.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
rmSync(join(root, 'dist'), { recursive: true, force: true });

const compiler = join(root, 'node_modules', '.bin', 'tsc');
const run = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (run.error) console.error(`cannot start ${compiler}: ${run.error.message}`);
process.exitCode = run.status ?? 1;

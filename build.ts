/**
 *     node build.ts            everything, for the packed program
 *     node build.ts ui         the Web UI alone (`npm run build:ui`)
 *     node build.ts prepare    the same after `npm ci`: ends with 0 when the build tools were left out
 *
 * Compiles src/ to dist/: Node strips types of the sources in a checkout, but refuses to do so under node_modules. Copies the
 * fonts of reports. Removes what an earlier build left in dist/, so that nothing of it is packed; dist/ui is rebuilt only
 * when its sources changed. Notes the commit that the program is made from: of the checkout, or where there is none, of
 * PORTOLAN_COMMIT.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildInfo, buildFile, checkedOut } from './src/cli/build-info.ts';
import { packedFontFolder, packedFonts } from './src/report/pdf/type/fonts.ts';
import { BuildToolsMissing, buildUi } from './ui/build-ui.ts';

const root = import.meta.dirname;
const dist = join(root, 'dist');

const what = process.argv[2] ?? 'all';
if (what === 'all') process.exitCode = compile() || (await ui());
else if (what === 'ui') process.exitCode = await ui();
else if (what === 'prepare') process.exitCode = await ui({ isOptional: true });
else throw new Error(`unknown part "${what}" (all, ui, prepare)`);

/** @returns exit code */
async function ui({ isOptional = false } = {}): Promise<number> {
  const started = performance.now();
  try {
    const outcome = await buildUi();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(outcome === 'built' ? `Web UI built in ${seconds} s` : 'Web UI unchanged');
    return 0;
  } catch (error) {
    if (!(error instanceof BuildToolsMissing)) throw error;
    console.log(`Web UI not built: ${error.message} (npm ci without --omit installs them)`);
    return isOptional ? 0 : 1;
  }
}

/** @returns exit code */
function compile(): number {
  clear();
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const run = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
  if (run.error) console.error(`cannot start ${compiler}: ${run.error.message}`);
  if (run.status !== 0) return run.status ?? 1;
  copyFonts(join(dist, packedFontFolder));
  const commit = checkedOut(root) ?? (process.env['PORTOLAN_COMMIT'] || null);
  const info: BuildInfo = { commit, built_at: new Date().toISOString() };
  writeFileSync(join(dist, buildFile), `${JSON.stringify(info)}\n`);
  return 0;
}

function clear(): void {
  if (!existsSync(dist)) return;
  for (const name of readdirSync(dist)) {
    if (name !== 'ui') rmSync(join(dist, name), { recursive: true, force: true });
  }
}

/** With their licenses: the packages that they come from are not installed with the program. */
function copyFonts(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { source, target } of packedFonts) {
    copyFileSync(join(root, 'node_modules', source), join(folder, target));
  }
}

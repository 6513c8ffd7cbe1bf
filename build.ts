/**
 * Compiles src/ to dist/ for the packed program: Node strips types of the sources in a checkout, but refuses to do so
 * under node_modules. Copies the fonts of reports. Starts from an empty dist/, so that nothing of an earlier build is
 * packed. Notes the commit that the program is made from: of the checkout, or where there is none, of PORTOLAN_COMMIT.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildInfo, buildFile, checkedOut } from './src/cli/build-info.ts';
import { packedFontFolder, packedFonts } from './src/report/pdf/type/fonts.ts';

const root = import.meta.dirname;
rmSync(join(root, 'dist'), { recursive: true, force: true });

const compiler = join(root, 'node_modules', '.bin', 'tsc');
const run = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (run.error) console.error(`cannot start ${compiler}: ${run.error.message}`);
process.exitCode = run.status ?? 1;

if (run.status === 0) {
  copyFonts(join(root, 'dist', packedFontFolder));
  const commit = checkedOut(root) ?? (process.env['PORTOLAN_COMMIT'] || null);
  const info: BuildInfo = { commit, built_at: new Date().toISOString() };
  writeFileSync(join(root, 'dist', buildFile), `${JSON.stringify(info)}\n`);
}

/** With their licenses: the packages that they come from are not installed with the program. */
function copyFonts(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { source, target } of packedFonts) {
    copyFileSync(join(root, 'node_modules', source), join(folder, target));
  }
}

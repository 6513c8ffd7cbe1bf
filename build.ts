/**
 *     node build.ts            everything, for the packed program
 *     node build.ts ui         the Web UI alone (`npm run build:ui`)
 *     node build.ts prepare    everything after `npm ci`: ends with 0 when the build tools were left out
 *
 * Bundles src/ and the Web UI into dist/, each only when its sources changed, and writes the manual page. Notes the commit that the program is made from:
 * of the checkout, or where there is none, of PORTOLAN_COMMIT.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildToolsMissing } from './build-inputs.ts';
import { buildProgram } from './bundle.ts';
import packageFile from './package.json' with { type: 'json' };
import { type BuildInfo, buildFile, checkedOut } from './src/cli/build-info.ts';
import { buildUi } from './ui/build-ui.ts';

const root = import.meta.dirname;
const dist = join(root, 'dist');

const what = process.argv[2] ?? 'all';
if (what === 'all') process.exitCode = (await program()) || (await ui());
else if (what === 'ui') process.exitCode = await ui();
else if (what === 'prepare') process.exitCode = (await program(true)) || (await ui(true));
else throw new Error(`unknown part "${what}" (all, ui, prepare)`);

function ui(isOptional = false): Promise<number> {
  return report('Web UI', buildUi, isOptional);
}

function program(isOptional = false): Promise<number> {
  const work = async () => {
    mkdirSync(dist, { recursive: true });
    const outcome = await buildProgram();
    const info: BuildInfo = {
      commit: checkedOut(root) ?? (process.env['PORTOLAN_COMMIT'] || null),
      built_at: new Date().toISOString(),
    };
    writeFileSync(join(dist, buildFile), `${JSON.stringify(info)}\n`);
    const manual = join(dist, 'portolan.1');
    if (outcome === 'built' || !existsSync(manual)) {
      const { writeManPage } = await import('./man-page.ts');
      await writeManPage(manual, packageFile.version);
    }
    return outcome;
  };
  return report('Program', work, isOptional);
}

/** @returns exit code */
async function report(
  name: string,
  build: () => Promise<'built' | 'unchanged'>,
  isOptional: boolean,
): Promise<number> {
  const started = performance.now();
  try {
    const outcome = await build();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(outcome === 'built' ? `${name} built in ${seconds} s` : `${name} unchanged`);
    return 0;
  } catch (error) {
    if (!(error instanceof BuildToolsMissing)) throw error;
    console.log(`${name} not built: ${error.message} (npm ci without --omit installs them)`);
    return isOptional ? 0 : 1;
  }
}

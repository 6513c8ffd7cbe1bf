import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBuildInfo } from './cli/build-info.ts';
import type { CliWiring } from './cli/wiring.ts';
import type { Config } from './config/schema.ts';
import type { ModuleCatalog } from './scan-run/plan/plan-scan.ts';

// This file runs from src/ and, compiled, from dist/: both lie one level below the package root.
const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const profilesDir = join(root, 'profiles');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** For one command, which uses some of the modules. */
async function loadRegistry({ scanner }: Pick<Config, 'scanner'>) {
  const { Registry, announceModules } = await import('./engine/registry.ts');
  const registry = new Registry();
  registry.maxRate = () => scanner.max_rate;
  await announceModules(registry, join(here, 'modules'));
  return registry;
}

/** For a server and its scans: what is wrong with a module or a graph shows at once. */
async function loadModuleCatalog(): Promise<ModuleCatalog> {
  const { Registry, registerModules } = await import('./engine/registry.ts');
  const registry = new Registry();
  await registerModules(registry, join(here, 'modules'));
  const { GraphLibrary } = await import('./engine/graph/graph-library.ts');
  return { registry, library: await GraphLibrary.load(profilesDir, 'builtin', registry) };
}

const wiring: CliWiring = {
  entryFile: fileURLToPath(import.meta.url),
  version,
  build: () => readBuildInfo(here),
  profilesDir,
  loadRegistry,
  async startServer(settings) {
    const { startServer } = await import('./server/start.ts');
    const { registry, library } = await loadModuleCatalog();
    const { entryFile, build } = wiring;
    return startServer({ ...settings, version, build: build(), entryFile, registry, library });
  },
  async runWorker(settings, signal) {
    const { runWorker } = await import('./server/start-worker.ts');
    const { entryFile } = wiring;
    await runWorker({ ...settings, version, entryFile, readCatalog: loadModuleCatalog }, signal);
  },
};

/** The server forks this program to run one scan; people never call it. */
async function runScanProcess(): Promise<void> {
  const { runScanProcess: run } = await import('./scan-run/run-scan-process.ts');
  const { createLogger } = await import('./server/logging/log.ts');
  const { highestRate } = await import('./config/schema.ts');
  const accepted = async () => {
    const catalogue = await loadModuleCatalog();
    // The server has judged the graph by its own bound; the rate of the scan holds in any case.
    catalogue.registry.maxRate = () => highestRate;
    return catalogue;
  };
  await run(accepted, createLogger());
}

async function runCommandLine(): Promise<void> {
  const { runProgram } = await import('./cli/program.ts');
  await runProgram(wiring, process.argv.slice(2));
}

if (process.argv[2] === 'scan-process' && process.send) await runScanProcess();
else await runCommandLine();

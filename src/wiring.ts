import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readBuildInfo } from './cli/build-info.ts';
import type { CliWiring } from './cli/wiring.ts';
import type { Config } from './config/schema.ts';
import type { ModuleCatalog } from './scan-run/plan/plan-scan.ts';

/** What the command line and the processes of scans need of the layers above them. */
export interface ProgramWiring extends CliWiring {
  /** For a server and its scans: what is wrong with a module or a graph shows at once. */
  loadModuleCatalog(): Promise<ModuleCatalog>;
}

/** @param entryFile src/main.ts or, compiled, dist/main.js: both lie one level below the package root */
export function wiringOf(entryFile: string): ProgramWiring {
  const here = dirname(entryFile);
  const root = join(here, '..');
  const profilesDir = join(root, 'profiles');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const build = () => readBuildInfo(here);

  /** For one command, which uses some of the modules. */
  async function loadRegistry({ scanner }: Pick<Config, 'scanner'>) {
    const { Registry, announceModules } = await import('./engine/registry.ts');
    const registry = new Registry();
    registry.maxRate = () => scanner.max_rate;
    await announceModules(registry, join(here, 'modules'));
    return registry;
  }

  async function loadModuleCatalog(): Promise<ModuleCatalog> {
    const { Registry, registerModules } = await import('./engine/registry.ts');
    const registry = new Registry();
    await registerModules(registry, join(here, 'modules'));
    const { GraphLibrary } = await import('./engine/graph/graph-library.ts');
    return { registry, library: await GraphLibrary.load(profilesDir, 'builtin', registry) };
  }

  return {
    entryFile,
    version,
    build,
    profilesDir,
    loadRegistry,
    loadModuleCatalog,
    async startServer(settings) {
      const { startServer } = await import('./server/start.ts');
      const { registry, library } = await loadModuleCatalog();
      return startServer({ ...settings, version, build: build(), entryFile, registry, library });
    },
    async runWorker(settings, signal) {
      const { runWorker } = await import('./server/start-worker.ts');
      await runWorker({ ...settings, version, entryFile, readCatalog: loadModuleCatalog }, signal);
    },
  };
}

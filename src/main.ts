import { fileURLToPath } from 'node:url';
import { wiringOf } from './wiring.ts';

const wiring = wiringOf(fileURLToPath(import.meta.url));

/** The server forks this program to run one scan; people never call it. */
async function runScanProcess(): Promise<void> {
  const { runScanProcess: run } = await import('./scan-run/run-scan-process.ts');
  const { createLogger } = await import('./server/logging/log.ts');
  const { highestRate } = await import('./config/schema.ts');
  const accepted = async () => {
    const catalog = await wiring.loadModuleCatalog();
    // The server has judged the graph by its own bound; the rate of the scan holds in any case.
    catalog.registry.maxRate = () => highestRate;
    return catalog;
  };
  await run(accepted, createLogger());
}

async function runCommandLine(): Promise<void> {
  const { runProgram } = await import('./cli/program.ts');
  process.exitCode = await runProgram(wiring, process.argv.slice(2));
}

if (process.argv[2] === 'scan-process' && process.send) await runScanProcess();
else await runCommandLine();

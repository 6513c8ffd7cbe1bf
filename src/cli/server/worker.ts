import { type Command, Option } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags, wholeNumber } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import type { WorkerFlags } from './worker-start.ts';

export function addWorkerCommand(program: Command, wiring: CliWiring): void {
  const worker = program
    .command('worker')
    .description('run and list workers that take parts of scans from servers on other machines');
  worker
    .command('start')
    .description('take shards of scans until Ctrl-C or SIGTERM; what runs then is given back')
    .addOption(
      new Option('--pool <names>', 'pools to work for, comma-separated').default('default').argParser(String),
    )
    .option('--queue <url>', 'PostgreSQL database of the servers (environment: SERVICE_QUEUE__URL)')
    .option('--server <url>', 'where the servers are reached, when not where they say')
    .option('--ca-file <file>', 'certificates (PEM) to trust beside those of the system')
    .addOption(
      new Option('--concurrency <n>', 'shards at the same time (default: server.workers)').argParser((text) =>
        wholeNumber(text, 1, 1024),
      ),
    )
    .option('--tags <list>', 'labels that worker list shows, comma-separated')
    .action(
      guarded(async (flags: WorkerFlags, command: Command) => {
        const { startWorker } = await import('./worker-start.ts');
        return startWorker(flags, globalFlags(command), wiring);
      }),
    );
  worker
    .command('list')
    .description('show the workers of all servers that gave a sign of life within the last minute')
    .option('--queue <url>', 'PostgreSQL database of the servers (environment: SERVICE_QUEUE__URL)')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { queue?: string; format: string }, command: Command) => {
        const { listWorkers } = await import('./worker-list.ts');
        return listWorkers(flags, globalFlags(command));
      }),
    );
}

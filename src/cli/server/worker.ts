import { type Command, Option } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags, wholeNumber } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import type { WorkerFlags } from './worker-start.ts';

export function addWorkerCommand(program: Command, wiring: CliWiring): void {
  const worker = program
    .command('worker')
    .description('run and list workers, which scan for servers on other machines');
  worker
    .command('start')
    .description('run shards of scans until Ctrl-C or SIGTERM; unfinished shards return to the queue')
    .addOption(
      new Option('--pool <names>', 'worker pools, comma-separated').default('default').argParser(String),
    )
    .option('--queue <url>', 'PostgreSQL database of the servers (environment: SERVICE_QUEUE__URL)')
    // Workers of earlier versions sent rows to the servers.
    .addOption(new Option('--server <url>', 'no effect: a worker needs the database only').hideHelp())
    .addOption(new Option('--ca-file <file>', 'no effect: a worker needs the database only').hideHelp())
    .addOption(
      new Option('--concurrency <n>', 'number of concurrent shards (default: server.workers)').argParser(
        (text) => wholeNumber(text, 1, 1024),
      ),
    )
    .option('--tags <list>', 'tags of the worker, for pools that ask for some, comma-separated')
    .action(
      guarded(async (flags: WorkerFlags, command: Command) => {
        const { startWorker } = await import('./worker-start.ts');
        return startWorker(flags, globalFlags(command), wiring);
      }),
    );
  worker
    .command('list')
    .description('list the workers of all servers with a heartbeat within the last minute')
    .option('--queue <url>', 'PostgreSQL database of the servers (environment: SERVICE_QUEUE__URL)')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { queue?: string; format: string }, command: Command) => {
        const { listWorkers } = await import('./worker-list.ts');
        return listWorkers(flags, globalFlags(command));
      }),
    );
}

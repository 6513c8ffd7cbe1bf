import { Option } from 'commander';
import type { CliCommand } from '../terminal/cli-command.ts';
import { numberOption } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';

export function addWorkerCommand(program: CliCommand): void {
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
      numberOption('--concurrency <n>', 'number of concurrent shards (default: server.workers)', 1, 1024),
    )
    .option('--tags <list>', 'tags of the worker, for pools that ask for some, comma-separated')
    .runs(async () => (await import('./worker-start.ts')).startWorker);
  worker
    .command('list')
    .description('list the workers of all servers with a heartbeat within the last minute')
    .option('--queue <url>', 'PostgreSQL database of the servers (environment: SERVICE_QUEUE__URL)')
    .addOption(formatOption())
    .runs(async () => (await import('./worker-list.ts')).listWorkers);
}

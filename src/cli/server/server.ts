import { type Command, Option } from 'commander';
import { addTokenCommand } from '../access/token.ts';
import { tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { globalFlags, logLevels, wholeNumber } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { CliWiring } from '../wiring.ts';
import type { LogsFlags } from './server-logs.ts';
import type { ReloadFlags } from './server-reload.ts';
import type { StartFlags } from './server-start.ts';
import type { StopFlags } from './server-stop.ts';

export function addServerCommand(program: Command, wiring: CliWiring): void {
  const server = program.command('server').description('run and manage the server');
  server
    .command('start')
    .description('serve the REST API until Ctrl-C or SIGTERM')
    .option('--bind <host:port>', 'listen address; port 0 picks a free port')
    .addOption(
      new Option('--workers <n>', 'number of concurrent scans').argParser((text) =>
        wholeNumber(text, 1, 1024),
      ),
    )
    .option('--allow-insecure', 'allow a non-loopback address without tokens: every client is served')
    .option('--strict-config', 'unknown configuration keys are errors')
    .option('-d, --daemon', 'run in the background and log to a file')
    .option('--pid-file <file>', 'pid file, removed when the server stops')
    .option('--no-ui', 'do not serve the Web UI')
    .option('--no-api', 'do not serve the REST API')
    .option('--plugin <file>', 'file of a plugin for all scans until the server stops; repeatable', collect)
    .addOption(new Option('--first-scan', 'scan this machine once after the start').hideHelp())
    .action(
      guarded(async (flags: StartFlags, command: Command) => {
        const { startServerCommand } = await import('./server-start.ts');
        return startServerCommand(flags, globalFlags(command), wiring);
      }),
    );
  server
    .command('status')
    .description('show the status of the server: exit 4 if none runs')
    .addOption(formatOption())
    .addOption(tokenOption())
    .action(
      guarded(async (flags: { format: string; apiToken?: string }, command: Command) => {
        const { showStatus } = await import('./server-status.ts');
        return showStatus(flags, globalFlags(command));
      }),
    );
  server
    .command('reload')
    .description('reload the configuration of the server: exit 3 if rejected')
    .option('--timeout <duration>', 'how long to wait for the outcome', '10s')
    .action(
      guarded(async (flags: ReloadFlags, command: Command) => {
        const { reloadServer } = await import('./server-reload.ts');
        return reloadServer(flags, globalFlags(command));
      }),
    );
  server
    .command('stop')
    .description('stop the server and wait until it exits')
    .option('--timeout <duration>', 'how long to wait', '30s')
    .option('--force', 'kill it after the timeout')
    .action(
      guarded(async (flags: StopFlags, command: Command) => {
        const { stopServer } = await import('./server-stop.ts');
        return stopServer(flags, globalFlags(command));
      }),
    );
  server
    .command('restart')
    .description('restart the server in the background with its previous arguments')
    .option('--timeout <duration>', 'how long to wait until it exits', '30s')
    .option('--force', 'kill it after the timeout')
    .action(
      guarded(async (flags: StopFlags, command: Command) => {
        const { restartServer } = await import('./server-restart.ts');
        return restartServer(flags, globalFlags(command), wiring);
      }),
    );
  server
    .command('logs')
    .description('show the log of the server, including rotated files')
    .option('-f, --follow', 'follow new lines until Ctrl-C')
    .addOption(
      new Option('--tail <n>', 'only the last n lines (default: 100 without --since)').argParser((text) =>
        wholeNumber(text, 0, 100_000),
      ),
    )
    .option('--since <time>', 'lines since a time, a date, or a duration ago such as 1h')
    .addOption(new Option('--level <level>', 'minimum level').choices(logLevels))
    .action(
      guarded(async (flags: LogsFlags, command: Command) => {
        const { showLogs } = await import('./server-logs.ts');
        return showLogs(flags, globalFlags(command));
      }),
    );
  addTokenCommand(server);
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

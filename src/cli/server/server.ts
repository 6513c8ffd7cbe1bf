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
  const server = program.command('server').description('run and inspect the server');
  server
    .command('start')
    .description('serve the REST API until Ctrl-C or SIGTERM')
    .option('--bind <host:port>', 'listen address; port 0 takes any free port')
    .addOption(
      new Option('--workers <n>', 'scans at the same time').argParser((text) => wholeNumber(text, 1, 1024)),
    )
    .option('--allow-insecure', 'serve every client on a non-loopback address without tokens')
    .option('--strict-config', 'unknown configuration keys are errors')
    .option('-d, --daemon', 'serve in the background; the log goes to its file')
    .option('--pid-file <file>', 'write the number of the process to this file while the server runs')
    .option('--no-ui', 'do not serve the Web UI')
    .option('--no-api', 'do not serve the REST API')
    .option('--plugin <file>', 'plugin file; not in this build', collect)
    .addOption(new Option('--first-scan', 'scan this machine once after the start').hideHelp())
    .action(
      guarded(async (flags: StartFlags, command: Command) => {
        const { startServerCommand } = await import('./server-start.ts');
        return startServerCommand(flags, globalFlags(command), wiring);
      }),
    );
  server
    .command('status')
    .description('show whether the server of the workspace runs: exit 0 running, 4 not')
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
    .description('let the server of the workspace read its configuration again: exit 0 done, 3 refused')
    .option('--timeout <duration>', 'how long to wait for the outcome', '10s')
    .action(
      guarded(async (flags: ReloadFlags, command: Command) => {
        const { reloadServer } = await import('./server-reload.ts');
        return reloadServer(flags, globalFlags(command));
      }),
    );
  server
    .command('stop')
    .description('stop the server of the workspace and wait for its end')
    .option('--timeout <duration>', 'how long to wait', '30s')
    .option('--force', 'kill it when the time is over')
    .action(
      guarded(async (flags: StopFlags, command: Command) => {
        const { stopServer } = await import('./server-stop.ts');
        return stopServer(flags, globalFlags(command));
      }),
    );
  server
    .command('restart')
    .description('stop the server of the workspace and start it in the background as it was started before')
    .option('--timeout <duration>', 'how long to wait for its end', '30s')
    .option('--force', 'kill it when the time is over')
    .action(
      guarded(async (flags: StopFlags, command: Command) => {
        const { restartServer } = await import('./server-restart.ts');
        return restartServer(flags, globalFlags(command), wiring);
      }),
    );
  server
    .command('logs')
    .description('show the log file of the server, rotated files too')
    .option('-f, --follow', 'go on with what is written from now on, until Ctrl-C')
    .addOption(
      new Option('--tail <n>', 'the last lines only (100 without --since, unless this is given)').argParser(
        (text) => wholeNumber(text, 0, 100_000),
      ),
    )
    .option('--since <time>', 'lines from then on: a time, a date, or how long ago such as 1h')
    .addOption(new Option('--level <level>', 'least level').choices(logLevels))
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

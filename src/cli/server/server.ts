import { Option } from 'commander';
import { addTokenCommand } from '../access/token.ts';
import { tokenOption } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { logLevels, numberOption } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';

export function addServerCommand(program: CliCommand): void {
  const server = program.command('server').description('run and manage the server');
  server
    .command('start')
    .description('serve the REST API until Ctrl-C or SIGTERM')
    .option('--bind <host:port>', 'listen address; port 0 picks a free port')
    .addOption(numberOption('--workers <n>', 'number of concurrent scans', 1, 1024))
    .option('--allow-insecure', 'allow a non-loopback address without tokens: every client is served')
    .option('--strict-config', 'unknown configuration keys are errors')
    .option('-d, --daemon', 'run in the background and log to a file')
    .option('--pid-file <file>', 'pid file, removed when the server stops')
    .option('--no-ui', 'do not serve the Web UI')
    .option('--no-api', 'do not serve the REST API')
    .option('--plugin <file>', 'file of a plugin for all scans until the server stops; repeatable', collect)
    .addOption(new Option('--first-scan', 'scan this machine once after the start').hideHelp())
    .runs(async () => (await import('./server-start.ts')).startServerCommand);
  server
    .command('status')
    .description('show the status of the server: exit 4 if none runs')
    .addOption(formatOption())
    .addOption(tokenOption())
    .runs(async () => (await import('./server-status.ts')).showStatus);
  server
    .command('reload')
    .description('reload the configuration of the server: exit 3 if rejected')
    .option('--timeout <duration>', 'how long to wait for the outcome', '10s')
    .runs(async () => (await import('./server-reload.ts')).reloadServer);
  server
    .command('stop')
    .description('stop the server and wait until it exits')
    .option('--timeout <duration>', 'how long to wait', '30s')
    .option('--force', 'kill it after the timeout')
    .runs(async () => (await import('./server-stop.ts')).stopServer);
  server
    .command('restart')
    .description('restart the server in the background with its previous arguments')
    .option('--timeout <duration>', 'how long to wait until it exits', '30s')
    .option('--force', 'kill it after the timeout')
    .runs(async () => (await import('./server-restart.ts')).restartServer);
  server
    .command('logs')
    .description('show the log of the server, including rotated files')
    .option('-f, --follow', 'follow new lines until Ctrl-C')
    .addOption(numberOption('--tail <n>', 'only the last n lines (default: 100 without --since)', 0, 100_000))
    .option('--since <time>', 'lines since a time, a date, or a duration ago such as 1h')
    .addOption(new Option('--level <level>', 'minimum level').choices(logLevels))
    .runs(async () => (await import('./server-logs.ts')).showLogs);
  addTokenCommand(server);
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

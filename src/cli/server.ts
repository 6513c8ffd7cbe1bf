import { type Command, Option } from 'commander';
import { guarded } from './failure.ts';
import { globalFlags, wholeNumber } from './globals.ts';
import type { StartFlags } from './server-start.ts';
import type { StopFlags } from './server-stop.ts';
import { addTokenCommand } from './token.ts';
import type { CliWiring } from './wiring.ts';

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
    .addOption(new Option('--first-scan', 'scan this machine once after the start').hideHelp())
    .action(
      guarded(async (flags: StartFlags, command: Command) => {
        const { startServer } = await import('./server-start.ts');
        return startServer(flags, globalFlags(command), wiring);
      }),
    );
  server
    .command('status')
    .description('show whether the server of the workspace runs: exit 0 running, 4 not')
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']).default('text'))
    .option('--api-token <token>', 'token for the server (environment: SERVICE_API_TOKEN)')
    .action(
      guarded(async (flags: { format: string; apiToken?: string }, command: Command) => {
        const { showStatus } = await import('./server-status.ts');
        return showStatus(flags, globalFlags(command));
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
  addTokenCommand(server);
}

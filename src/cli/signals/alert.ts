import type { Command } from 'commander';
import { caFileOption, serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { AlertFlags } from './alert-list.ts';

/** `alert list|test` */
export function addAlertCommand(program: Command): void {
  const alert = program
    .command('alert')
    .description('list alerts of a server and check files of alert rules')
    .addHelpText('after', examples);
  alert
    .command('list')
    .description('list the alerts of a server, their states and since when')
    .addOption(formatOption())
    .addOption(serverOption())
    .addOption(tokenOption())
    .addOption(caFileOption())
    .action(
      guarded(async (flags: AlertFlags, command: Command) => {
        const { showAlerts } = await import('./alert-list.ts');
        return showAlerts(flags, globalFlags(command));
      }),
    );
  alert
    .command('test')
    .description('check a file of alert rules; with a server: its values now, and which conditions hold')
    .argument('<file>', 'file of alert rules (YAML)')
    .addOption(formatOption())
    .addOption(serverOption())
    .addOption(tokenOption())
    .addOption(caFileOption())
    .action(
      guarded(async (file: string, flags: AlertFlags, command: Command) => {
        const { testAlerts } = await import('./alert-test.ts');
        return testAlerts(file, flags, globalFlags(command));
      }),
    );
}

const examples = `
Examples:
  portolan alert test alerts.yaml    check the rules before a reload
  portolan server reload             put them in force
  portolan alert list                see what fires
`;

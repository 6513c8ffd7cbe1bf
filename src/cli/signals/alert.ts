import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

/** `alert list|test` */
export function addAlertCommand(program: CliCommand): void {
  const alert = program
    .command('alert')
    .description('list alerts of a server and check files of alert rules')
    .addHelpText('after', examples);
  alert
    .command('list')
    .description('list the alerts of a server, their states and since when')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./alert-list.ts')).showAlerts);
  alert
    .command('test')
    .description('check a file of alert rules; with a server: its values now, and which conditions hold')
    .argument('<file>', 'file of alert rules (YAML)')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./alert-test.ts')).testAlerts);
}

const examples = `
Examples:
  portolan alert test alerts.yaml    check the rules before a reload
  portolan server reload             put them in force
  portolan alert list                see what fires
`;

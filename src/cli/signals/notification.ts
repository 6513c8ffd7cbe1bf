import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

export function addNotificationCommand(program: CliCommand): void {
  const notification = program.command('notification').description('check notification channels');
  notification
    .command('test')
    .description('send a test message: exit 0 if it was delivered, else 1')
    .argument('<channel>', 'slack://name, email://address or webhook://name')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./notification-test.ts')).testNotification);
}

import type { Command } from 'commander';
import { caFileOption, serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { NotificationTestFlags } from './notification-test.ts';

export function addNotificationCommand(program: Command): void {
  const notification = program.command('notification').description('check notification channels');
  notification
    .command('test')
    .description('send a test message: exit 0 if it was delivered, else 1')
    .argument('<channel>', 'slack://name, email://address or webhook://name')
    .addOption(formatOption())
    .addOption(serverOption())
    .addOption(tokenOption())
    .addOption(caFileOption())
    .action(
      guarded(async (channel: string, flags: NotificationTestFlags, command: Command) => {
        const { testNotification } = await import('./notification-test.ts');
        return testNotification(channel, flags, globalFlags(command));
      }),
    );
}

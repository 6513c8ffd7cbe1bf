import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

export function addBackupCommand(program: CliCommand): void {
  program
    .command('backup')
    .description('save store, records, configuration, plugins and keys in one file, also while a server runs')
    .argument('<file>', 'file to write, tar.gz; it has secrets and is readable by its owner only')
    .addOption(formatOption())
    .runs(async () => (await import('./backup-work.ts')).backUpCommand);
}

export function addRestoreCommand(program: CliCommand): void {
  program
    .command('restore')
    .description('check a backup, then replace workspace and plugins by it; stop the server first')
    .argument('<file>', 'file that portolan backup wrote')
    .option('--with-config', 'also write configuration files that are missing, at their old paths')
    .option('--force', 'do not ask for confirmation')
    .addOption(formatOption())
    .runs(async () => (await import('./backup-work.ts')).restoreCommand);
}

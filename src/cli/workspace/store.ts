import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { StoreMigrateFlags } from './store-work.ts';

/** `store migrate` */
export function addStoreCommand(program: Command): void {
  const store = program
    .command('store')
    .description('manage the store: scans, jobs and tokens, without results');
  store
    .command('migrate')
    .description('copy the store from the workspace file to PostgreSQL or back; stop the server first')
    .requiredOption(
      '--to <url>',
      'postgres://user@host/database, which must be empty; sqlite: for the workspace file',
    )
    .option('--from <url>', 'source database with --to sqlite: (default: queue.url)')
    .addOption(formatOption())
    .action(
      guarded(async (flags: StoreMigrateFlags, command: Command) => {
        const { migrateStoreCommand } = await import('./store-work.ts');
        return migrateStoreCommand(flags, globalFlags(command));
      }),
    );
}

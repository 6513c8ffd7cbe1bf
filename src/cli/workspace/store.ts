import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { StoreMigrateFlags } from './store-work.ts';

/** `store migrate`: where the service keeps what it remembers beside the results. */
export function addStoreCommand(program: Command): void {
  const store = program.command('store').description('the store: scans, jobs and tokens, without results');
  store
    .command('migrate')
    .description('copy the store from the file of the workspace to PostgreSQL or back; no server may run')
    .requiredOption(
      '--to <url>',
      'postgres://user@host/database, which must be empty; sqlite: for the file of the workspace',
    )
    .option('--from <url>', 'database to read instead of queue.url, with --to sqlite:')
    .addOption(formatOption())
    .action(
      guarded(async (flags: StoreMigrateFlags, command: Command) => {
        const { migrateStoreCommand } = await import('./store-work.ts');
        return migrateStoreCommand(flags, globalFlags(command));
      }),
    );
}

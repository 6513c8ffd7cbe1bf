import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

/** `store migrate` */
export function addStoreCommand(program: CliCommand): void {
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
    .runs(async () => (await import('./store-work.ts')).migrateStoreCommand);
}

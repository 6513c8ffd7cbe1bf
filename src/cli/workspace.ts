import { type Command, Option } from 'commander';
import { guarded } from './failure.ts';
import { globalFlags, wholeNumber } from './globals.ts';
import type { ListFlags } from './workspace-work.ts';

export function addWorkspaceCommand(program: Command): void {
  const workspace = program
    .command('workspace')
    .alias('storage')
    .description('look after the scans that are kept');
  workspace
    .command('info')
    .description('show where scans are kept and how much they take')
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']).default('text'))
    .action(
      guarded(async ({ format }: { format: string }, command: Command) => {
        const { info } = await import('./workspace-work.ts');
        return info(format, globalFlags(command));
      }),
    );
  workspace
    .command('list')
    .description('list scans, newest first')
    .addOption(new Option('--format <format>', 'form').choices(['table', 'json', 'csv']).default('table'))
    .addOption(
      new Option('--status <status>', 'only this state').choices([
        'pending',
        'running',
        'completed',
        'failed',
      ]),
    )
    .option('--since <time>', 'only scans created then or later (ISO 8601)')
    .addOption(
      new Option('--limit <n>', 'at most this many')
        .argParser((text) => wholeNumber(text, 1, 1000))
        .default(50),
    )
    .action(
      guarded(async (flags: ListFlags, command: Command) => {
        const { list } = await import('./workspace-work.ts');
        return list(flags, globalFlags(command));
      }),
    );
  workspace
    .command('show')
    .description('show one scan')
    .argument('<id>', 'scan id')
    .option('--show-results', 'its results too')
    .addOption(new Option('--format <format>', 'form').choices(['text', 'json']).default('text'))
    .action(
      guarded(async (id: string, flags: { showResults?: boolean; format: string }, command: Command) => {
        const { show } = await import('./workspace-work.ts');
        return show(id, flags, globalFlags(command));
      }),
    );
  workspace
    .command('export')
    .description('write the results of a scan')
    .argument('<id>', 'scan id')
    .option('-o, --output <file>', 'file; stdout without it')
    .option('--format <format>', 'json (default), jsonl, csv or text')
    .action(
      guarded(async (id: string, flags: { output?: string; format?: string }, command: Command) => {
        const { exportScan } = await import('./workspace-work.ts');
        return exportScan(id, flags, globalFlags(command));
      }),
    );
  workspace
    .command('delete')
    .description('delete a scan with all its files')
    .argument('<id>', 'scan id')
    .option('--force', 'also when it waits or runs: it is stopped first')
    .action(
      guarded(async (id: string, flags: { force?: boolean }, command: Command) => {
        const { remove } = await import('./workspace-work.ts');
        return remove(id, flags, globalFlags(command));
      }),
    );
}

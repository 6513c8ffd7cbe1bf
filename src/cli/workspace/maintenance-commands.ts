import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';

/** The commands that look after the workspace as a whole. */
export function addMaintenanceCommands(workspace: Command): void {
  workspace
    .command('init')
    .description('make a workspace, for its owner only; one that is there stays as it is')
    .argument('[path]', 'where; the configured place without it')
    .action(
      guarded(async (path: string | undefined, _flags: object, command: Command) => {
        const { init } = await import('./workspace-maintenance.ts');
        return init(path, globalFlags(command));
      }),
    );
  workspace
    .command('check')
    .description('look for damage in everything that is kept; exit code 1 while some is left')
    .option('--fix', 'mend what can be mended without losing a result; no server may run')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { fix?: boolean; format: string }, command: Command) => {
        const { check } = await import('./workspace-maintenance.ts');
        return check(flags, globalFlags(command));
      }),
    );
  workspace
    .command('migrate')
    .description('bring the workspace to this version; what is older is copied to backups/ first')
    .option('--backup', 'make a copy also when nothing is to be changed')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { backup?: boolean; format: string }, command: Command) => {
        const { migrateWorkspaceCommand } = await import('./workspace-maintenance.ts');
        return migrateWorkspaceCommand(flags, globalFlags(command));
      }),
    );
  workspace
    .command('stats')
    .description('count scans and bytes: by state, profile, kind and month')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showWorkspaceStats } = await import('./workspace-maintenance.ts');
        return showWorkspaceStats(flags, globalFlags(command));
      }),
    );
  workspace
    .command('clean-cache')
    .description('empty the cache: fingerprints, names and vulnerability data that can be fetched again')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { clean } = await import('./workspace-maintenance.ts');
        return clean(flags, globalFlags(command));
      }),
    );
}

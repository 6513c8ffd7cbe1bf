import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';

/** Maintenance commands of the workspace. */
export function addMaintenanceCommands(workspace: Command): void {
  workspace
    .command('init')
    .description('create a workspace, accessible only to its owner; an existing one is not changed')
    .argument('[path]', 'directory (default: workspace.dir)')
    .action(
      guarded(async (path: string | undefined, _flags: object, command: Command) => {
        const { init } = await import('./workspace-maintenance.ts');
        return init(path, globalFlags(command));
      }),
    );
  workspace
    .command('check')
    .description('check all stored data for damage: exit 1 if any remains')
    .option('--fix', 'repair what can be repaired without losing results; stop the server first')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { fix?: boolean; format: string }, command: Command) => {
        const { check } = await import('./workspace-maintenance.ts');
        return check(flags, globalFlags(command));
      }),
    );
  workspace
    .command('migrate')
    .description('upgrade the workspace to this version, after a copy to backups/')
    .option('--backup', 'also copy when there is nothing to upgrade')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { backup?: boolean; format: string }, command: Command) => {
        const { migrateWorkspaceCommand } = await import('./workspace-maintenance.ts');
        return migrateWorkspaceCommand(flags, globalFlags(command));
      }),
    );
  workspace
    .command('stats')
    .description('count scans and bytes by state, profile, kind and month')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showWorkspaceStats } = await import('./workspace-maintenance.ts');
        return showWorkspaceStats(flags, globalFlags(command));
      }),
    );
  workspace
    .command('clean-cache')
    .description('empty the cache of data that can be fetched again: fingerprints, names, vulnerability data')
    .option('--force', 'do not ask for confirmation')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string; force?: boolean }, command: Command) => {
        const { clean } = await import('./workspace-maintenance.ts');
        return clean(flags, globalFlags(command));
      }),
    );
}

import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

/** Maintenance commands of the workspace. */
export function addMaintenanceCommands(workspace: CliCommand): void {
  workspace
    .command('init')
    .description('create a workspace, accessible only to its owner; an existing one is not changed')
    .argument('[path]', 'directory (default: workspace.dir)')
    .runs(async () => (await import('./workspace-maintenance.ts')).init);
  workspace
    .command('check')
    .description('check all stored data for damage: exit 1 if any remains')
    .option('--fix', 'repair what can be repaired without losing results; stop the server first')
    .addOption(formatOption())
    .runs(async () => (await import('./workspace-maintenance.ts')).check);
  workspace
    .command('migrate')
    .description('upgrade the workspace to this version, after a copy to backups/')
    .option('--backup', 'also copy when there is nothing to upgrade')
    .addOption(formatOption())
    .runs(async () => (await import('./workspace-maintenance.ts')).migrateWorkspaceCommand);
  workspace
    .command('stats')
    .description('count scans and bytes by state, profile, kind and month')
    .addOption(formatOption())
    .runs(async () => (await import('./workspace-maintenance.ts')).showWorkspaceStats);
  workspace
    .command('clean-cache')
    .description('empty the cache of data that can be fetched again: fingerprints, names, vulnerability data')
    .option('--force', 'do not ask for confirmation')
    .addOption(formatOption())
    .runs(async () => (await import('./workspace-maintenance.ts')).clean);
}

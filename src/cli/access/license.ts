import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { IssueFlags } from './license-work.ts';

/** Making and installing licences; an operator can run an enforced installation of its own with these. */
export function addLicenseCommand(program: Command): void {
  const license = program.command('license').description('issue, install and check licences');
  license
    .command('keygen')
    .description('make a key pair: the private key signs licences, the public one checks them')
    .option('-o, --output <folder>', 'where license-private.pem and license-public.pem go', '.')
    .option('--force', 'replace keys that are there')
    .action(
      guarded(async ({ output, force }: { output: string; force?: boolean }) => {
        const { keygen } = await import('./license-work.ts');
        return keygen(output, force ?? false);
      }),
    );
  license
    .command('issue')
    .description('sign a licence; it is printed once')
    .requiredOption('--customer <id>', 'who it is for')
    .requiredOption('--plan <plan>', 'starter, team, business or enterprise')
    .option('--features <list>', 'separated by commas; without it all for enterprise, none for other plans')
    .requiredOption('--expiry <duration>', 'lifetime, e.g. 365d')
    .requiredOption('--key <file>', 'private key of license keygen')
    .option('--license-id <id>', 'a name of its own; random when absent')
    .option('-o, --output <file>', 'write it to a file (mode 0600) and not to stdout')
    .action(
      guarded(async (flags: IssueFlags) => {
        const { issue } = await import('./license-work.ts');
        return issue(flags);
      }),
    );
  license
    .command('install')
    .description('check a licence against license.public_key and keep it in the workspace')
    .argument('<file>', 'file with the licence, - for stdin')
    .action(
      guarded(async (file: string, _flags: object, command: Command) => {
        const { installLicense } = await import('./license-work.ts');
        return installLicense(file, globalFlags(command));
      }),
    );
  license
    .command('show')
    .description('show what the installed licence allows: exit 5 when it is not good')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showLicense } = await import('./license-work.ts');
        return showLicense(flags.format, globalFlags(command));
      }),
    );
  license
    .command('verify')
    .description('check a licence that is not installed: exit 0 when it is good, else 5')
    .argument('<file>', 'file with the licence, - for stdin')
    .option('--public-key <key>', 'PEM text or file; license.public_key when absent')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: { publicKey?: string; format: string }, command: Command) => {
        const { verify } = await import('./license-work.ts');
        return verify(file, flags, globalFlags(command));
      }),
    );
}

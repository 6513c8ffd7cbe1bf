import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { IssueFlags } from './license-work.ts';

/** `license`: issue and install licenses, also for operators who enforce licenses of their own. */
export function addLicenseCommand(program: Command): void {
  const license = program.command('license').description('issue, install and verify licenses');
  license
    .command('keygen')
    .description('create a key pair: the private key signs licenses, the public key verifies them')
    .option('-o, --output <folder>', 'directory for license-private.pem and license-public.pem', '.')
    .option('--force', 'replace existing keys')
    .action(
      guarded(async ({ output, force }: { output: string; force?: boolean }) => {
        const { keygen } = await import('./license-work.ts');
        return keygen(output, force ?? false);
      }),
    );
  license
    .command('issue')
    .description('sign a license and print it')
    .requiredOption('--customer <id>', 'customer id')
    .requiredOption('--plan <plan>', 'starter, team, business or enterprise')
    .option('--features <list>', 'comma-separated (default: all for enterprise, none for other plans)')
    .requiredOption('--expiry <duration>', 'lifetime, e.g. 365d')
    .requiredOption('--key <file>', 'private key of license keygen')
    .option('--license-id <id>', 'license id (default: random)')
    .option('-o, --output <file>', 'output file, mode 0600 (default: stdout)')
    .action(
      guarded(async (flags: IssueFlags) => {
        const { issue } = await import('./license-work.ts');
        return issue(flags);
      }),
    );
  license
    .command('install')
    .description('verify a license with license.public_key and install it in the workspace')
    .argument('<file>', 'file with the license, - for stdin')
    .action(
      guarded(async (file: string, _flags: object, command: Command) => {
        const { installLicense } = await import('./license-work.ts');
        return installLicense(file, globalFlags(command));
      }),
    );
  license
    .command('show')
    .description('show the installed license and its features: exit 5 if invalid')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showLicense } = await import('./license-work.ts');
        return showLicense(flags.format, globalFlags(command));
      }),
    );
  license
    .command('verify')
    .description('verify a license without installing it: exit 0 if valid, else 5')
    .argument('<file>', 'file with the license, - for stdin')
    .option('--public-key <key>', 'PEM text or file (default: license.public_key)')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: { publicKey?: string; format: string }, command: Command) => {
        const { verify } = await import('./license-work.ts');
        return verify(file, flags, globalFlags(command));
      }),
    );
}

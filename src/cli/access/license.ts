import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

/** `license`: issue and install licenses, also for operators who enforce licenses of their own. */
export function addLicenseCommand(program: CliCommand): void {
  const license = program.command('license').description('issue, install and verify licenses');
  license
    .command('keygen')
    .description('create a key pair: the private key signs licenses, the public key verifies them')
    .option('-o, --output <folder>', 'directory for license-private.pem and license-public.pem', '.')
    .option('--force', 'replace existing keys')
    .runs(async () => (await import('./license-work.ts')).keygen);
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
    .runs(async () => (await import('./license-work.ts')).issue);
  license
    .command('install')
    .description('verify a license with license.public_key and install it in the workspace')
    .argument('<file>', 'file with the license, - for stdin')
    .runs(async () => (await import('./license-work.ts')).installLicense);
  license
    .command('show')
    .description('show the installed license and its features: exit 5 if invalid')
    .addOption(formatOption())
    .runs(async () => (await import('./license-work.ts')).showLicense);
  license
    .command('verify')
    .description('verify a license without installing it: exit 0 if valid, else 5')
    .argument('<file>', 'file with the license, - for stdin')
    .option('--public-key <key>', 'PEM text or file (default: license.public_key)')
    .addOption(formatOption())
    .runs(async () => (await import('./license-work.ts')).verify);
}

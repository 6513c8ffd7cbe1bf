import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';
import type { FingerprintListFlags, FingerprintSyncFlags } from './fingerprint-work.ts';

/** Looking at fingerprint rules, trying them, and putting further ones in force. */
export function addFingerprintCommand(program: Command): void {
  const fingerprint = program
    .command('fingerprint')
    .description('show, try and install the rules that name products');
  addReadingCommands(fingerprint);
  addChangingCommands(fingerprint);
}

function addReadingCommands(fingerprint: Command): void {
  fingerprint
    .command('list')
    .description('list the rules in force')
    .option('--category <name>', 'only this category, e.g. web; see fingerprint stats')
    .option(
      '--search <text>',
      'only rules with this in id, product, vendor, service, evidence or description',
    )
    .addOption(listFormatOption())
    .action(
      guarded(async (flags: FingerprintListFlags, command: Command) => {
        const { listFingerprintSets } = await import('./fingerprint-work.ts');
        return listFingerprintSets(flags, globalFlags(command));
      }),
    );
  fingerprint
    .command('show')
    .description('show a rule with its examples')
    .argument('<id>', 'id of a rule')
    .addOption(formatOption())
    .action(
      guarded(async (id: string, flags: { format: string }, command: Command) => {
        const { showFingerprintSet } = await import('./fingerprint-work.ts');
        return showFingerprintSet(id, flags.format, globalFlags(command));
      }),
    );
  fingerprint
    .command('stats')
    .description('count the rules in force, by set, category and evidence')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showFingerprintStats } = await import('./fingerprint-work.ts');
        return showFingerprintStats(flags.format, globalFlags(command));
      }),
    );
  fingerprint
    .command('validate')
    .description('check a file of rules with all its examples: exit 3 when something is wrong')
    .argument('<file>', 'YAML or JSON file, XML database of Recog, archive or folder of such files')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: { format: string }) => {
        const { validate } = await import('./fingerprint-work.ts');
        return validate(file, flags.format);
      }),
    );
  fingerprint
    .command('test')
    .description('show what rules read out of a sample: exit 1 when none matches')
    .argument('<rules>', 'file of rules, "builtin", or "installed" for all rules in force')
    .argument('<sample>', 'file with what a service answered, - for stdin')
    .option('--evidence <key>', 'the sample is the text of this evidence, e.g. http.header.server')
    .addOption(formatOption())
    .action(
      guarded(
        async (
          rules: string,
          sample: string,
          flags: { evidence?: string; format: string },
          command: Command,
        ) => {
          const { tryRules } = await import('./fingerprint-work.ts');
          return tryRules(rules, sample, flags, globalFlags(command));
        },
      ),
    );
}

function addChangingCommands(fingerprint: Command): void {
  fingerprint
    .command('add')
    .description('check a file of rules and use it in every scan from now on')
    .argument('<file>', 'YAML or JSON file with rules')
    .option('--name <name>', 'name of the set; that of the file when absent')
    .option('--force', 'replace a set of that name')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: InstallFlags, command: Command) => {
        const { installFingerprintSet } = await import('./fingerprint-work.ts');
        return installFingerprintSet([file], flags, 'added', globalFlags(command));
      }),
    );
  fingerprint
    .command('import')
    .description(
      'turn databases of another format (Recog XML) into one set and use it in every scan from now on',
    )
    .argument('<file...>', 'databases, an archive or a folder with them')
    .option('--name <name>', 'name of the set', 'recog')
    .option('--force', 'replace a set of that name')
    .addOption(formatOption())
    .action(
      guarded(async (files: string[], flags: InstallFlags, command: Command) => {
        const { installFingerprintSet } = await import('./fingerprint-work.ts');
        return installFingerprintSet(files, flags, 'imported', globalFlags(command));
      }),
    );
  fingerprint
    .command('remove')
    .description('take a set that was added or imported out of use')
    .argument('<name>', 'name of the set; see fingerprint stats')
    .action(
      guarded(async (name: string, _flags: object, command: Command) => {
        const { removeFingerprintSet } = await import('./fingerprint-work.ts');
        return removeFingerprintSet(name, globalFlags(command));
      }),
    );
  fingerprint
    .command('sync')
    .description(
      'fetch the rules of fingerprint.cache.url anew when they are older than fingerprint.cache.ttl',
    )
    .option('--url <url>', 'another address; #sha256=DIGEST behind it must fit what is fetched')
    .option('--file <file>', 'take this file, nothing is fetched')
    .option('--force', 'fetch also what is not old yet, and take it though it is older or has fewer rules')
    .addOption(formatOption())
    .action(
      guarded(async (flags: FingerprintSyncFlags, command: Command) => {
        const { syncFingerprintSets } = await import('./fingerprint-work.ts');
        return syncFingerprintSets(flags, globalFlags(command));
      }),
    );
}

interface InstallFlags {
  name?: string;
  force?: boolean;
  format: string;
}

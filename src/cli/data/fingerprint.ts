import type { Command } from 'commander';
import { guarded } from '../terminal/failure.ts';
import { globalFlags } from '../terminal/globals.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';
import type { FingerprintListFlags, FingerprintSyncFlags } from './fingerprint-work.ts';

/** `fingerprint`: show, test and install fingerprint rules. */
export function addFingerprintCommand(program: Command): void {
  const fingerprint = program.command('fingerprint').description('show, test and install fingerprint rules');
  addReadingCommands(fingerprint);
  addChangingCommands(fingerprint);
}

function addReadingCommands(fingerprint: Command): void {
  fingerprint
    .command('list')
    .description('list the active rules')
    .option('--category <name>', 'only this category, e.g. web; see fingerprint stats')
    .option(
      '--search <text>',
      'only rules with this text in id, product, vendor, service, evidence or description',
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
    .description('count the active rules by set, category and evidence')
    .addOption(formatOption())
    .action(
      guarded(async (flags: { format: string }, command: Command) => {
        const { showFingerprintStats } = await import('./fingerprint-work.ts');
        return showFingerprintStats(flags.format, globalFlags(command));
      }),
    );
  fingerprint
    .command('validate')
    .description('validate a rule file and its examples: exit 3 on errors')
    .argument('<file>', 'YAML or JSON file, Recog XML database, or an archive or directory of these')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: { format: string }) => {
        const { validate } = await import('./fingerprint-work.ts');
        return validate(file, flags.format);
      }),
    );
  fingerprint
    .command('test')
    .description('test rules against a sample: exit 1 if none matches')
    .argument('<rules>', 'rule file, "builtin", or "installed" for all active rules')
    .argument('<sample>', 'file with the response of a service, - for stdin')
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
    .description('validate a rule file and install it for all scans')
    .argument('<file>', 'YAML or JSON file with rules')
    .option('--name <name>', 'name of the set (default: name of the file)')
    .option('--force', 'replace an existing set')
    .addOption(formatOption())
    .action(
      guarded(async (file: string, flags: InstallFlags, command: Command) => {
        const { installFingerprintSet } = await import('./fingerprint-work.ts');
        return installFingerprintSet([file], flags, 'added', globalFlags(command));
      }),
    );
  fingerprint
    .command('import')
    .description('convert databases of another format (Recog XML) into one set and install it for all scans')
    .argument('<file...>', 'databases, or an archive or directory of them')
    .option('--name <name>', 'name of the set', 'recog')
    .option('--force', 'replace an existing set')
    .addOption(formatOption())
    .action(
      guarded(async (files: string[], flags: InstallFlags, command: Command) => {
        const { installFingerprintSet } = await import('./fingerprint-work.ts');
        return installFingerprintSet(files, flags, 'imported', globalFlags(command));
      }),
    );
  fingerprint
    .command('remove')
    .description('remove a set that was added or imported')
    .argument('<name>', 'name of the set; see fingerprint stats')
    .action(
      guarded(async (name: string, _flags: object, command: Command) => {
        const { removeFingerprintSet } = await import('./fingerprint-work.ts');
        return removeFingerprintSet(name, globalFlags(command));
      }),
    );
  fingerprint
    .command('sync')
    .description('refresh the rules of fingerprint.cache.url if older than fingerprint.cache.ttl')
    .option('--url <url>', 'fetch from this URL instead; append #sha256=DIGEST to verify the file')
    .option('--file <file>', 'use this file instead of fetching')
    .option('--force', 'fetch even if fresh, and accept rules that are older or fewer')
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

import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';

/** `fingerprint`: show, test and install fingerprint rules. */
export function addFingerprintCommand(program: CliCommand): void {
  const fingerprint = program.command('fingerprint').description('show, test and install fingerprint rules');
  addReadingCommands(fingerprint);
  addChangingCommands(fingerprint);
}

function addReadingCommands(fingerprint: CliCommand): void {
  fingerprint
    .command('list')
    .description('list the active rules')
    .option('--category <name>', 'only this category, e.g. web; see fingerprint stats')
    .option(
      '--search <text>',
      'only rules with this text in id, product, vendor, service, evidence or description',
    )
    .addOption(listFormatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).listFingerprintSets);
  fingerprint
    .command('show')
    .description('show a rule with its examples')
    .argument('<id>', 'id of a rule')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).showFingerprintSet);
  fingerprint
    .command('stats')
    .description('count the active rules by set, category and evidence')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).showFingerprintStats);
  fingerprint
    .command('validate')
    .description('validate a rule file and its examples: exit 3 on errors')
    .argument('<file>', 'YAML or JSON file, Recog XML database, or an archive or directory of these')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).validate);
  fingerprint
    .command('test')
    .description('test rules against a sample: exit 1 if none matches')
    .argument('<rules>', 'rule file, "builtin", or "installed" for all active rules')
    .argument('<sample>', 'file with the response of a service, - for stdin')
    .option('--evidence <key>', 'the sample is the text of this evidence, e.g. http.header.server')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).tryRules);
}

function addChangingCommands(fingerprint: CliCommand): void {
  fingerprint
    .command('add')
    .description('validate a rule file and install it for all scans')
    .argument('<file>', 'YAML or JSON file with rules')
    .option('--name <name>', 'name of the set (default: name of the file)')
    .option('--force', 'replace an existing set')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).addFingerprintSet);
  fingerprint
    .command('import')
    .description('convert databases of another format (Recog XML) into one set and install it for all scans')
    .argument('<file...>', 'databases, or an archive or directory of them')
    .option('--name <name>', 'name of the set', 'recog')
    .option('--force', 'replace an existing set')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).importFingerprintSet);
  fingerprint
    .command('remove')
    .description('remove a set that was added or imported')
    .argument('<name>', 'name of the set; see fingerprint stats')
    .runs(async () => (await import('./fingerprint-work.ts')).removeFingerprintSet);
  fingerprint
    .command('sync')
    .description('refresh the rules of fingerprint.cache.url if older than fingerprint.cache.ttl')
    .option('--url <url>', 'fetch from this URL instead; append #sha256=DIGEST to verify the file')
    .option('--file <file>', 'use this file instead of fetching')
    .option('--force', 'fetch even if fresh, and accept rules that are older or fewer')
    .addOption(formatOption())
    .runs(async () => (await import('./fingerprint-work.ts')).syncFingerprintSets);
}

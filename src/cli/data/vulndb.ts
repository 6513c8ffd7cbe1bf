import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../terminal/cli-command.ts';
import { formatOption } from '../terminal/output-options.ts';

/** `vulndb`: import, fetch and show vulnerability data. */
export function addVulndbCommand(program: CliCommand): void {
  const vulndb = program.command('vulndb').description('import, fetch, export and show vulnerability data');
  vulndb
    .command('import')
    .description(
      'import files atomically: a bundle of vulndb export, NVD, CVE 5, KEV, EPSS, fixes of distributions',
    )
    .argument('<file...>', 'files, or directories of files')
    .option('--replace', 'discard existing data first')
    .addOption(formatOption())
    .runs(async () => (await import('./vulndb-work.ts')).importFiles);
  vulndb
    .command('sync')
    .description('fetch all data: CVEs (NVD), KEV, EPSS, fixes of Debian, Ubuntu, Red Hat, Alpine')
    .option('--source <list>', 'comma-separated', 'nvd,kev,epss,debian,ubuntu,redhat,alpine')
    .option('--since <time>', 'only NVD records changed since this date or time', readTime)
    .option('--force', 'fetch everything again')
    .addOption(formatOption())
    .runs(async () => (await import('./vulndb-work.ts')).syncVulndbCommand);
  vulndb
    .command('export')
    .description('write all data into one file, for machines without network: vulndb import reads it there')
    .argument('<file>', 'the bundle')
    .runs(async () => (await import('./vulndb-work.ts')).exportVulndb);
  vulndb
    .command('stats')
    .description('show counts, sources and dates of the data')
    .addOption(formatOption())
    .runs(async () => (await import('./vulndb-work.ts')).showVulndbStats);
}

/** ISO 8601; without a zone it is UTC. */
function readTime(text: string): string {
  const form = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  const zoned = text.includes('T') && !/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text;
  const time = form ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a date such as 2026-11-01, or a time.');
  if (time > Date.now()) throw new InvalidArgumentError('It must not be in the future.');
  return new Date(time).toISOString();
}

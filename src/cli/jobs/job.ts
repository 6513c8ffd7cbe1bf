import { Option } from 'commander';
import { jobStatuses, jobTypes } from '../../domain/job.ts';
import { rateOption } from '../scan/packet-rate.ts';
import { priorityOption } from '../scan/scan-priority.ts';
import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { numberOption } from '../terminal/globals.ts';
import { formatOption, limitOption, listFormatOption } from '../terminal/output-options.ts';

/** `job submit|list|show|cancel`: jobs of a server. */
export function addJobCommand(program: CliCommand): void {
  const job = program.command('job').description('manage scheduled and one-off scans of a server');
  addSubmit(job);
  addList(job);
  job
    .command('show')
    .description('show a job, its last runs and its next run times')
    .argument('<id>', 'job id')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./job-work.ts')).showJobCommand);
  job
    .command('run')
    .description('run a recurring job now; its next runs stay at their times')
    .argument('<id>', 'job id')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./job-work.ts')).runJobCommand);
  job
    .command('cancel')
    .description('cancel a job and its running scan')
    .argument('<id>', 'job id')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(async () => (await import('./job-work.ts')).cancelJobCommand);
}

function addSubmit(job: CliCommand): void {
  job
    .command('submit')
    .description('submit a one-off or recurring scan')
    .argument('[targets...]', 'addresses, CIDR, ranges, host names, @file')
    .option('--schedule <cron>', 'cron expression, e.g. "0 2 * * *" or @daily (default: run once, now)')
    .option('--pool <name>', 'worker pool of the server')
    .addOption(priorityOption())
    .option('--name <name>', 'label of the job')
    .option('--params <file>', 'JSON file with the fields of a scan, - for stdin; other flags override it')
    .option('-t, --targets <list>', 'additional targets, comma-separated')
    .option('-f, --target-file <file>', 'file with targets, - for stdin')
    .option('--exclude <list>', 'targets to exclude')
    .option('--exclude-file <file>', 'file with targets to exclude')
    .option('-p, --profile <name>', 'profile of the scans; -p takes ports too, as in scan')
    .option('--dag <name>', 'installed graph to use instead of the profile')
    .option('--ports <list>', 'e.g. 22,80,8000-8100, common, top-200, all')
    .addOption(rateOption())
    .option('--vuln', 'evaluate vulnerabilities')
    .option('--no-vuln', 'do not evaluate vulnerabilities')
    .option('--max-duration <duration>', 'stop each scan after this time, e.g. 1h30m')
    .option('--scan-name <name>', 'label of the scans')
    .option('--tags <list>', 'labels of the scans, comma-separated')
    .option('--notify <list>', 'notification channels such as slack://security, comma-separated')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .addHelpText('after', examples)
    .runs(async () => (await import('./job-work.ts')).submitJobFromFlags);
}

function addList(job: CliCommand): void {
  job
    .command('list')
    .description('list jobs, newest first')
    .addOption(listFormatOption())
    .addOption(new Option('--status <status>', 'filter by status').choices(jobStatuses))
    .option('--since <time>', 'only jobs created then or later (ISO 8601)')
    .option('--pool <name>', 'only jobs of this pool')
    .addOption(new Option('--type <type>', 'only jobs of this type').choices(jobTypes))
    .addOption(limitOption())
    .addOption(numberOption('--offset <n>', 'skip the first n jobs', 0, 1_000_000_000))
    .addOptions(serverOptions())
    .runs(async () => (await import('./job-work.ts')).listJobsCommand);
}

const examples = `
Examples:
  portolan job submit 192.0.2.0/24 --schedule "0 2 * * *" --name nightly
  portolan job submit --params scan.json --schedule @weekly --pool dmz
`;

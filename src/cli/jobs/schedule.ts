import { serverOptions } from '../session/server-flags.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { numberOption } from '../terminal/globals.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';

/** Maximum number of times that `schedule next` prints. */
const maxTimes = 100;

/** `schedule list|next` */
export function addScheduleCommand(program: CliCommand): void {
  const schedule = program
    .command('schedule')
    .description('list recurring scans and preview cron expressions')
    .addHelpText('after', examples);
  addList(schedule);
  addNext(schedule);
}

function addList(schedule: CliCommand): void {
  schedule
    .command('list')
    .description('list recurring jobs, next run first')
    .option('--all', 'include jobs that have ended')
    .addOption(listFormatOption())
    .option('--pool <name>', 'only jobs of this pool')
    .addOptions(serverOptions())
    .runs(async () => (await import('./schedule-work.ts')).listSchedules);
}

function addNext(schedule: CliCommand): void {
  schedule
    .command('next')
    .description('show when a cron expression fires next; needs no server')
    .argument('<cron>', 'cron expression in quotes, e.g. "0 2 * * *", or @daily')
    .addOption(numberOption('--count <n>', 'number of times', 1, maxTimes).default(5))
    .option('--zone <zone>', 'IANA time zone, e.g. Europe/Berlin (default: queue.timezone)')
    .option('--from <time>', 'start time (ISO 8601, local time of the zone without an offset; default: now)')
    .addOption(formatOption())
    .runs(async () => (await import('./schedule-work.ts')).showNext);
}

const examples = `
Examples:
  portolan schedule next "0 2 * * MON-FRI" --zone Europe/Berlin  try it
  portolan job submit 192.0.2.0/24 --schedule "0 2 * * MON-FRI"  scan so
  portolan schedule list                                         see what recurs
  portolan job cancel ID                                         end it
`;

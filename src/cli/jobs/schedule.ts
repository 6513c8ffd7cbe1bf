import { type Command, Option } from 'commander';
import { serverOption, tokenOption } from '../session/server-flags.ts';
import { guarded } from '../terminal/failure.ts';
import { globalFlags, wholeNumber } from '../terminal/globals.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';
import type { ScheduleListFlags, ScheduleNextFlags } from './schedule-work.ts';

/** Most times that `schedule next` prints. */
const maxTimes = 100;

/** `schedule list|next`: what recurs, and when an expression fires. */
export function addScheduleCommand(program: Command): void {
  const schedule = program
    .command('schedule')
    .description('see which scans recur, and try a cron expression')
    .addHelpText('after', examples);
  addList(schedule);
  addNext(schedule);
}

function addList(schedule: Command): void {
  schedule
    .command('list')
    .description('list the jobs that recur, the next to run first')
    .option('--all', 'also those that have ended')
    .addOption(listFormatOption())
    .option('--pool <name>', 'only jobs of this pool')
    .addOption(serverOption())
    .addOption(tokenOption())
    .action(
      guarded(async (flags: ScheduleListFlags, command: Command) => {
        const { listSchedules } = await import('./schedule-work.ts');
        return listSchedules(flags, globalFlags(command));
      }),
    );
}

function addNext(schedule: Command): void {
  schedule
    .command('next')
    .description('show when a cron expression fires next; asks no server')
    .argument('<cron>', 'five fields of cron in quotes, e.g. "0 2 * * *", or @daily')
    .addOption(
      new Option('--count <n>', 'so many times')
        .argParser((text) => wholeNumber(text, 1, maxTimes))
        .default(5),
    )
    .option('--zone <zone>', 'IANA time zone, e.g. Europe/Berlin (default: queue.timezone)')
    .option('--from <time>', 'begin then and not now (ISO 8601; without an offset by the clock of the zone)')
    .addOption(formatOption())
    .action(
      guarded(async (cron: string, flags: ScheduleNextFlags, command: Command) => {
        const { showNext } = await import('./schedule-work.ts');
        return showNext(cron, flags, globalFlags(command));
      }),
    );
}

const examples = `
Examples:
  portolan schedule next "0 2 * * MON-FRI" --zone Europe/Berlin    try an expression
  portolan job submit 192.0.2.0/24 --schedule "0 2 * * MON-FRI"    make a scan recur
  portolan schedule list                                           see what recurs
  portolan job cancel ID                                           end it
`;

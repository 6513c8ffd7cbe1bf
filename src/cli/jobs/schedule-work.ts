import { timesFrom } from '../../actions/jobs/preview-schedule.ts';
import { readTyped } from '../../config/value.ts';
import type { Job } from '../../domain/job.ts';
import { CronSchedule, scheduleProblem } from '../../domain/time/cron.ts';
import { cronWords } from '../../domain/time/cron-words.ts';
import { freezeTimePattern, freezeTimeProblem } from '../../domain/time/scan-calendar.ts';
import { instantsOf, WallClock } from '../../domain/time/wall-clock.ts';
import type { Client } from '../session/client.ts';
import { requireServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { jobListShape } from '../session/server-responses.ts';
import { readConfigQuietly } from '../session/session.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf } from '../terminal/draw/style.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { scheduleRows, scheduleTable } from './schedule-table.ts';

export interface ScheduleListFlags extends ServerFlags {
  format: string;
  pool?: string;
  all?: boolean;
}

export interface ScheduleNextFlags {
  format: string;
  count: number;
  zone?: string;
  from?: string;
}

/** `schedule list` */
export async function listSchedules(flags: ScheduleListFlags, global: GlobalFlags): Promise<void> {
  const client = await requireServer(flags, global);
  const jobs = (await findRecurring(client, flags)).toSorted(byNextRun);
  if (flags.format === 'json') print(printableJson({ jobs }));
  else if (flags.format === 'csv') print(scheduleRows(jobs));
  else if (jobs.length === 0) note(nothingRecurs(flags));
  else print(scheduleTable(jobs, styleOf(process.stdout, global), Date.now()));
}

/**
 * Jobs per page. Each may list a hundred long target names and as many excluded ones; a page of this size stays below
 * the size limit of responses.
 */
const pageSize = 250;

async function findRecurring(client: Client, { pool, all = false }: ScheduleListFlags): Promise<Job[]> {
  const found: Job[] = [];
  const query = new URLSearchParams({ limit: String(pageSize), ...(pool !== undefined && { pool }) });
  for (;;) {
    const page = await client.call('GET', `/api/v1/jobs?${query}`, jobListShape);
    found.push(...page.jobs.filter((job) => job.schedule !== null && (all || !hasEnded(job))));
    if (!page.next_cursor) return found;
    query.set('cursor', page.next_cursor);
  }
}

function hasEnded({ status }: Job): boolean {
  return status !== 'pending' && status !== 'running';
}

/** Jobs that never run again come last. */
function byNextRun(a: Job, b: Job): number {
  const [first, second] = [a, b].map((job) => job.next_run_at ?? '\uffff') as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
}

function nothingRecurs({ pool }: ScheduleListFlags): string {
  const where = pool === undefined ? '' : ` in pool ${printable(pool)}`;
  return `no recurring jobs${where}; create one with: portolan job submit TARGETS --schedule "0 2 * * *"`;
}

/** `schedule next` */
export async function showNext(
  expression: string,
  flags: ScheduleNextFlags,
  global: GlobalFlags,
): Promise<void> {
  const problem = scheduleProblem(expression);
  if (problem !== null) throw usage(`schedule: ${problem}`);
  const zone = await zoneOf(flags, global);
  const clock = new WallClock(zone);
  const from = flags.from === undefined ? Date.now() : readFrom(flags.from, clock);
  const times = timesFrom(new CronSchedule(expression, zone), from, flags.count).map((time) => ({
    local: clock.textOf(time.getTime()),
    utc: time.toISOString(),
  }));
  if (flags.format === 'json') {
    const inWords = { in_words: cronWords(expression) };
    print(
      printableJson({ schedule: expression, zone, ...inWords, from: new Date(from).toISOString(), times }),
    );
  } else if (times.length === 0) note('the schedule never fires before the year 10000');
  else printTimes(times, zone, global);
}

/** The requested zone, validated like `queue.timezone`, which is the default. */
async function zoneOf({ zone }: ScheduleNextFlags, global: GlobalFlags): Promise<string> {
  if (zone === undefined) return (await readConfigQuietly(global)).config.queue.timezone;
  const read = readTyped({ type: 'zone' }, zone);
  if ('reason' in read) throw usage(`--zone ${read.reason}`);
  return zone;
}

/** Same format as scanner.freeze; an ambiguous local time is the first one. @returns epoch milliseconds */
function readFrom(text: string, clock: WallClock): number {
  const problem = freezeTimePattern.test(text)
    ? freezeTimeProblem(text)
    : 'is not a time such as 2027-03-28, 2027-03-28T01:30 or 2027-03-28T01:30:00+01:00';
  if (problem !== null) throw usage(`--from: "${text}" ${problem}`);
  const from = Math.min(...instantsOf(text, clock, 0));
  if (from >= 0) return from;
  throw usage(`--from: "${text}" is before 1970`);
}

interface RunTime {
  local: string;
  utc: string;
}

/** Exact, in both clocks: that is what was asked for. */
function printTimes(times: readonly RunTime[], zone: string, flags: { color: boolean }): void {
  printTable(
    [
      { head: 'DAY', cell: ({ local }) => weekdayOf(local) },
      { head: `LOCAL (${zone})`, cell: ({ local }) => local },
      { head: 'UTC', cell: ({ utc }) => utc.replace('.000Z', 'Z') },
    ],
    times,
    flags,
  );
}

/** `Sun` */
function weekdayOf(local: string): string {
  return new Date(local.slice(0, 10)).toUTCString().slice(0, 3);
}

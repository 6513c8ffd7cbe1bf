import { readTyped } from '../../config/value.ts';
import { type FieldProblem, invalidRequest } from '../../domain/errors.ts';
import { CronSchedule, scheduleProblem } from '../../domain/time/cron.ts';
import { cronWords } from '../../domain/time/cron-words.ts';

/** When a schedule fires. */
export interface SchedulePreview {
  schedule: string;
  zone: string;
  in_words: string;
  /** ISO 8601 UTC. */
  next: string[];
}

/** @param zone IANA name @throws PortolanError `invalid_request` */
export function previewSchedule(
  schedule: string,
  zone: string,
  count: number,
  now = Date.now(),
): SchedulePreview {
  const problems: FieldProblem[] = [];
  const problem = scheduleProblem(schedule);
  if (problem !== null) problems.push({ field: 'schedule', reason: problem });
  const read = readTyped({ type: 'zone' }, zone);
  if ('reason' in read) problems.push({ field: 'zone', reason: read.reason });
  if (problems.length > 0) {
    throw invalidRequest(problems.map(({ field, reason }) => `${field}: ${reason}`).join('; '), problems);
  }
  const times = timesFrom(new CronSchedule(schedule, zone), now, count);
  return { schedule, zone, in_words: cronWords(schedule), next: times.map((time) => time.toISOString()) };
}

/** The first run times from `from` on, inclusive. @param from epoch milliseconds */
export function timesFrom(schedule: CronSchedule, from: number, count: number): Date[] {
  const times: Date[] = [];
  let time = schedule.after(new Date(from - 1));
  while (time !== null && times.length < count) {
    times.push(time);
    time = schedule.after(time);
  }
  return times;
}

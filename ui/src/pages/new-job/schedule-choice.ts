/** Schedules that most want; the last one stands for any other text. */
export const choices = [
  { value: '', label: 'Once, now' },
  { value: '0 * * * *', label: 'Hourly' },
  { value: '0 2 * * *', label: 'Nightly' },
  { value: '0 2 * * 1-5', label: 'Weekdays' },
  { value: '0 4 * * SUN', label: 'Sundays' },
  { value: '0 2 1 * *', label: 'Monthly' },
  { value: 'own', label: 'Custom' },
] as const;

export type Choice = (typeof choices)[number]['value'];

/** What a reader chose, and the text of the schedule. */
export interface ScheduleDraft {
  choice: Choice;
  /** Empty for a scan without a schedule. */
  text: string;
}

export const nightly: ScheduleDraft = { choice: '0 2 * * *', text: '0 2 * * *' };

/** After a press of one of the choices; "Custom" goes on from the text that stands there. */
export function chosen(choice: Choice, { text }: ScheduleDraft): ScheduleDraft {
  return choice === 'own' ? { choice, text } : { choice, text: choice };
}

/** After a change of the text: a choice at another time is still the choice. */
export function typed(text: string): ScheduleDraft {
  const days = daysOf(text);
  const same = days === null ? undefined : choices.find(({ value }) => daysOf(value) === days);
  return { choice: same?.value ?? 'own', text };
}

/** Minute, hour and the rest, where minute and hour are plain numbers. */
const daily = /^\s*(\d{1,2})\s+(\d{1,2})\s+(\S+\s+\S+\s+\S+)\s*$/;
const hourly = /^\s*\d{1,2}\s+\*\s+\*\s+\*\s+\*\s*$/;

/** What a schedule is without its time; null for any other text. */
function daysOf(text: string): string | null {
  if (hourly.test(text)) return 'hourly';
  return daily.exec(text)?.[3]?.replace(/\s+/g, ' ').toUpperCase() ?? null;
}

/** `02:00`; null where a schedule has no one time of the day. */
export function timeOf(text: string): string | null {
  const [, minute, hour] = daily.exec(text) ?? [];
  if (minute === undefined || hour === undefined || Number(minute) > 59 || Number(hour) > 23) return null;
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
}

/** The same days at another time. @param time `23:30`; another text changes nothing */
export function atTime(schedule: ScheduleDraft, time: string): ScheduleDraft {
  const [, hour, minute] = /^(\d\d):(\d\d)/.exec(time) ?? [];
  const days = daily.exec(schedule.text)?.[3];
  if (hour === undefined || days === undefined) return schedule;
  return typed(`${Number(minute)} ${Number(hour)} ${days}`);
}

const fields = 5;

/** Why a text that is being typed is not worth a request yet; null when the server should look at it. */
export function incompleteReason(text: string): string | null {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return 'Five fields, or @daily';
  if (words[0]?.startsWith('@'))
    return words[0].length < 6 ? '@hourly, @daily, @weekly, @monthly or @yearly' : null;
  return words.length < fields ? `${words.length} of five fields` : null;
}

/** Words of the API, and how they stand in sentences. */

/** From the worst to the least. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** From the surest to the least sure. */
export const findingClasses = ['certain', 'likely', 'possible'] as const;
export type FindingClass = (typeof findingClasses)[number];

/** States of scans, jobs, stages and workers as they are shown. */
export const states = [
  'pending',
  'running',
  'paused',
  'completed',
  'failed',
  'interrupted',
  'canceled',
  'timed out',
  'skipped',
] as const;
export type State = (typeof states)[number];

/** What the API says about the state of a scan or a job. */
export interface StatedThing {
  status: string;
  canceled?: boolean | undefined;
  interrupted?: boolean | undefined;
}

/** A canceled scan is `failed` with `canceled` in the API; an interrupted one is `running` that nobody runs. */
export function shownState({ status, canceled, interrupted }: StatedThing): State {
  if (status === 'failed' && canceled === true) return 'canceled';
  if (status === 'running' && interrupted === true) return 'interrupted';
  return states.find((state) => state === status) ?? 'pending';
}

export function isSeverity(text: string): text is Severity {
  return (severities as readonly string[]).includes(text);
}

export function severityWord(severity: Severity): string {
  return capitalized(severity);
}

/** First letter in upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @returns `1 host`, `2 hosts`, `1,024 entries`; `many` where the plural has another form than an s */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat('en-US').format(number)} ${number === 1 ? one : many}`;
}

/** @returns `a`, `a and b`, `a, b and c` */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Schedules that most want; the last one stands for any other text. */
export const choices = [
  { value: '', label: 'Once, now' },
  { value: '0 * * * *', label: 'Hourly' },
  { value: '0 2 * * *', label: 'Nightly' },
  { value: '0 2 * * 1-5', label: 'Weekdays' },
  { value: '0 4 * * SUN', label: 'Sundays' },
  { value: '0 2 1 * *', label: 'Monthly' },
  { value: 'own', label: 'Own' },
] as const;

export type Choice = (typeof choices)[number]['value'];

/** What a reader chose, and the text of the schedule. */
export interface ScheduleDraft {
  choice: Choice;
  /** Empty for a scan without a schedule. */
  text: string;
}

export const nightly: ScheduleDraft = { choice: '0 2 * * *', text: '0 2 * * *' };

/** After a press of one of the choices; "Own" goes on from the text that stands there. */
export function chosen(choice: Choice, { text }: ScheduleDraft): ScheduleDraft {
  return choice === 'own' ? { choice, text } : { choice, text: choice };
}

/** After a change of the text. */
export function typed(text: string): ScheduleDraft {
  const same = choices.find(({ value }) => value !== '' && value !== 'own' && value === text.trim());
  return { choice: same?.value ?? 'own', text };
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

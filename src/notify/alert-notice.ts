import { shortened } from './fitting.ts';

/** A notice that an alert fires, or has resolved. */
export interface AlertNotice {
  event: 'alert';
  name: string;
  state: 'firing' | 'resolved';
  condition: string;
  /** Values of the variables in the condition; null if unknown. */
  values: Record<string, number | null>;
  message: string;
  /** ISO 8601 UTC. */
  fired_at: string;
}

/** Maximum length of the name of an alert in a message, characters. */
const nameLength = 100;
/** Text length per list entry, characters: texts shrink with the lists. */
const lengthPerEntry = 75;
const minTextLength = 50;

/** One-line summary. */
export function alertHeadline({ name, state, message }: AlertNotice): string {
  return `Alert ${shortened(name, nameLength)} ${state}: ${shortened(message, 200)}`;
}

/** Pairs of a name and a value, for people. */
export function alertFacts(notice: AlertNotice, shown: number): [name: string, value: string][] {
  const { name, state, condition, values, message, fired_at } = alertPayload(notice, shown);
  const known = Object.entries(values).map(([variable, value]) => `${variable} = ${value ?? 'unknown'}`);
  return [
    ['Alert', name],
    ['State', state],
    ['Message', message],
    ['Condition', condition],
    ['Values', known.join(', ')],
    ['Fired', fired_at],
  ];
}

/** The documented JSON. */
export function alertPayload(notice: AlertNotice, shown: number): AlertNotice {
  const { event, name, state, condition, values, message, fired_at } = notice;
  const length = Math.max(minTextLength, shown * lengthPerEntry);
  return {
    event,
    name: shortened(name, nameLength),
    state,
    condition: shortened(condition, length),
    values: Object.fromEntries(Object.entries(values).slice(0, shown)),
    message: shortened(message, length),
    fired_at,
  };
}

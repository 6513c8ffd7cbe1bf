import { shortened } from './fitting.ts';

/** That an alert fires, or fires no more. */
export interface AlertNotice {
  event: 'alert';
  name: string;
  state: 'firing' | 'resolved';
  condition: string;
  /** Of the variables in the condition; null where there is none. */
  values: Record<string, number | null>;
  message: string;
  /** ISO 8601 UTC. */
  fired_at: string;
}

/** Maximum length of the name of an alert in a message, characters. */
const nameLength = 100;
/** Characters of a text for each entry that a list may have: texts shrink as lists do. */
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

import type { AlertRules } from '../../alerts/alert-rules.ts';
import type { AlertStateName } from '../../alerts/alert-state.ts';
import type { Store } from '../../store/open.ts';
import { alertId, alertKey } from './evaluate-alerts.ts';

/** An alert as clients see it. */
export interface ListedAlert {
  name: string;
  state: AlertStateName;
  /** ISO 8601 UTC; null before the first evaluation. */
  since: string | null;
  condition: string;
  /** How long the condition must hold before the alert fires, seconds. */
  for_seconds: number;
  action: string;
  message: string;
  /** Why the condition cannot be evaluated; null when it can. */
  error: string | null;
  /** `file:line` of its rule. */
  origin: string;
}

/** The rules in force and their states, in the order of the file. */
export async function listAlerts({ rules, file }: AlertRules, store: Store): Promise<ListedAlert[]> {
  const states = new Map((await store.alertStates.all()).map((row) => [alertId(row), row]));
  return rules.map((rule) => {
    const found = states.get(alertId(alertKey(rule)));
    return {
      name: rule.name,
      state: found?.state ?? 'inactive',
      since: found?.since ?? null,
      condition: rule.condition.text,
      for_seconds: rule.forMs / 1000,
      action: rule.action,
      message: rule.message,
      error: found?.error ?? null,
      origin: `${file}:${rule.line}`,
    };
  });
}

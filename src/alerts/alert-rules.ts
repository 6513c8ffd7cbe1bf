import type { Evaluation } from './alert-state.ts';
import type { AlertValues, AlertVariable } from './alert-values.ts';

/** Largest file of alert rules, bytes. */
export const maxRulesBytes = 256 * 1024;

/** A checked condition. */
export interface AlertCondition {
  readonly text: string;
  /** The variables that it names. */
  readonly variables: readonly AlertVariable[];
  /**
   * Whether it holds. A comparison with an unknown value (NaN) is false, `!=` included.
   * @throws Error when it cannot be evaluated, e.g. on a division of integers by zero
   */
  holds(values: AlertValues): boolean;
}

export interface AlertRule {
  /** Unique. */
  name: string;
  condition: AlertCondition;
  /** How long the condition must hold before the alert fires, milliseconds. */
  forMs: number;
  /** As written. */
  action: string;
  /** The same as channels, `<channel_type>://<channel_name>`. */
  channels: string[];
  /** The condition where the file has none. */
  message: string;
  /** Of the file, from 1. */
  line: number;
}

/** What a rule file holds. */
export interface AlertRules {
  /** Null without a file; there are no rules then. */
  file: string | null;
  rules: readonly AlertRule[];
}

/** How an evaluation ends, whatever happens in it. */
export function evaluateCondition(condition: AlertCondition, values: AlertValues): Evaluation {
  try {
    return { holds: condition.holds(values) };
  } catch (error) {
    // The message of the library has a second and a third line with a caret.
    const { summary, message } = error as Error & { summary?: string };
    return { error: summary ?? message };
  }
}

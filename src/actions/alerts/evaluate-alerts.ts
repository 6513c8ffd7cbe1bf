import { createHash } from 'node:crypto';
import { type AlertRule, evaluateCondition } from '../../alerts/alert-rules.ts';
import { type AlertState, type AlertStep, type Evaluation, stepAlert } from '../../alerts/alert-state.ts';
import { type AlertValues, shownValues } from '../../alerts/alert-values.ts';
import type { AlertNotice } from '../../notify/alert-notice.ts';
import type { AlertKey } from '../../store/alert-states.ts';
import type { Store } from '../../store/open.ts';
import type { AlertStateTableRow } from '../../store/schema/tables.ts';

export interface AlertRound {
  rules: readonly AlertRule[];
  values: AlertValues;
  /** Monotonic time since the last round of this process, milliseconds; 0 for the first one. */
  elapsedMs: number;
  /** By the clock of the queue, epoch milliseconds. */
  now: number;
  /** Renews the lease of the work; without it nothing is stored. */
  isHolder: (tx: Store) => Promise<boolean>;
}

/** What a round did with one rule. */
export interface AlertOutcome {
  rule: AlertRule;
  state: AlertState;
  notice: AlertNotice | null;
  /** Whether evaluations of this rule begin to fail with this round. */
  beganToFail: boolean;
}

/**
 * Evaluates all rules once. New states and the notices that they cause are stored together, so that neither a restart nor
 * another server repeats or loses one. States of rules that are gone are deleted.
 *
 * @returns null when another server holds the lease
 */
export async function evaluateAlerts(store: Store, round: AlertRound): Promise<AlertOutcome[] | null> {
  const evaluations = round.rules.map(({ condition }) => evaluateCondition(condition, round.values));
  return await store.transaction(async (tx) => {
    if (!(await round.isHolder(tx))) return null;
    const stored = new Map((await tx.alertStates.all()).map((row) => [alertId(row), row]));
    const changed: AlertStateTableRow[] = [];
    const outcomes = round.rules.map((rule, index) => {
      const id = alertId(alertKey(rule));
      const row = stored.get(id);
      stored.delete(id);
      const outcome = outcomeOf(round, rule, row, evaluations[index] as Evaluation);
      const next = rowOf(rule, outcome.state);
      if (row === undefined || !isSame(row, next)) changed.push(next);
      return outcome;
    });
    await tx.alertStates.save(changed);
    await tx.alertStates.delete([...stored.values()]);
    for (const outcome of outcomes) await storeNotice(tx, outcome);
    return outcomes;
  });
}

function outcomeOf(
  { elapsedMs, now, values }: AlertRound,
  rule: AlertRule,
  row: AlertStateTableRow | undefined,
  evaluation: Evaluation,
): AlertOutcome {
  const clock = { elapsedMs, now: new Date(now).toISOString() };
  const step = stepAlert(row ? stateOf(row) : null, evaluation, rule.forMs, clock);
  const { next, beganToFail } = step;
  return { rule, state: next, notice: noticeOf(rule, step, values), beganToFail };
}

async function storeNotice(tx: Store, { rule, notice }: AlertOutcome): Promise<void> {
  if (notice === null) return;
  const { channels } = rule;
  const message = { event: 'alert', payload: notice, channels, owner: tx.executor, tenant: null };
  await tx.outbox.addNotice(message, Date.now());
}

function noticeOf(rule: AlertRule, { notice }: AlertStep, values: AlertValues): AlertNotice | null {
  if (notice === null) return null;
  return {
    event: 'alert',
    name: rule.name,
    state: notice.state,
    condition: rule.condition.text,
    values: shownValues(values, rule.condition.variables) as Record<string, number | null>,
    message: rule.message,
    fired_at: notice.firedAt,
  };
}

/** Under which the state of a rule is stored. */
export function alertKey({ name, condition }: AlertRule): AlertKey {
  return { name, condition_digest: createHash('sha256').update(condition.text).digest('hex') };
}

export function alertId({ name, condition_digest }: AlertKey): string {
  return `${name} ${condition_digest}`;
}

function stateOf({ state, since, pending_ms, quiet_ms, error }: AlertStateTableRow): AlertState {
  return { state, since, pendingMs: pending_ms, quietMs: quiet_ms, error };
}

function rowOf(rule: AlertRule, { state, since, pendingMs, quietMs, error }: AlertState): AlertStateTableRow {
  return {
    ...alertKey(rule),
    state,
    since,
    pending_ms: Math.round(pendingMs),
    quiet_ms: Math.round(quietMs),
    error,
  };
}

function isSame(a: AlertStateTableRow, b: AlertStateTableRow): boolean {
  return (
    a.state === b.state &&
    a.since === b.since &&
    a.pending_ms === b.pending_ms &&
    a.quiet_ms === b.quiet_ms &&
    a.error === b.error
  );
}

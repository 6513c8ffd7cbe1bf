/** A firing alert is repeated this often, milliseconds. */
export const alertRepeatMs = 3_600_000;

export const alertStates = ['inactive', 'pending', 'firing'] as const;

/** `pending`: the condition holds, but not yet for long enough. */
export type AlertStateName = (typeof alertStates)[number];

/** What is remembered of one alert. Spans are measured on a monotonic clock, while somebody evaluates the alert. */
export interface AlertState {
  readonly state: AlertStateName;
  /** Since when, ISO 8601 UTC. */
  readonly since: string;
  /** Time for which the condition of a pending alert has held, milliseconds. */
  readonly pendingMs: number;
  /** Time since the last notice of a firing alert, milliseconds. */
  readonly quietMs: number;
  /** Why the last evaluation failed; null when it did not. */
  readonly error: string | null;
}

/** How an evaluation of the condition ended. */
export type Evaluation = { holds: boolean } | { error: string };

export interface AlertStep {
  next: AlertState;
  /** The notice to send. `firedAt` is the same in all notices of one incident. */
  notice: { state: 'firing' | 'resolved'; firedAt: string } | null;
  /** Whether evaluations begin to fail with this one. */
  beganToFail: boolean;
}

export interface AlertClock {
  /** Monotonic time since the last evaluation, milliseconds; 0 for the first one of a process. */
  elapsedMs: number;
  /** ISO 8601 UTC; only shown, never reckoned with. */
  now: string;
}

/**
 * The next state of an alert after an evaluation, and the notice that it causes: one on the rising edge, one an hour while
 * it fires, one when it resolves. A failed evaluation changes nothing else.
 *
 * @param before null for an alert that was never evaluated
 * @param forMs how long the condition must hold before the alert fires
 */
export function stepAlert(
  before: AlertState | null,
  evaluation: Evaluation,
  forMs: number,
  clock: AlertClock,
): AlertStep {
  const known = before ?? inactive(clock.now);
  if ('error' in evaluation) {
    const next = { ...known, error: known.error ?? evaluation.error };
    return { next, notice: null, beganToFail: known.error === null };
  }
  const step = evaluation.holds ? raise(known, forMs, clock) : clear(known, clock);
  return { ...step, beganToFail: false };
}

type Step = Omit<AlertStep, 'beganToFail'>;

function inactive(now: string): AlertState {
  return { state: 'inactive', since: now, pendingMs: 0, quietMs: 0, error: null };
}

function raise(known: AlertState, forMs: number, { elapsedMs, now }: AlertClock): Step {
  if (known.state === 'firing') {
    const quietMs = known.quietMs + elapsedMs;
    if (quietMs < alertRepeatMs) return { next: { ...known, quietMs, error: null }, notice: null };
    return {
      next: { ...known, quietMs: 0, error: null },
      notice: { state: 'firing', firedAt: known.since },
    };
  }
  const pendingMs = known.state === 'pending' ? known.pendingMs + elapsedMs : 0;
  if (pendingMs >= forMs) {
    const next: AlertState = { state: 'firing', since: now, pendingMs: 0, quietMs: 0, error: null };
    return { next, notice: { state: 'firing', firedAt: now } };
  }
  const since = known.state === 'pending' ? known.since : now;
  return { next: { state: 'pending', since, pendingMs, quietMs: 0, error: null }, notice: null };
}

function clear(known: AlertState, { now }: AlertClock): Step {
  if (known.state === 'inactive') return { next: { ...known, error: null }, notice: null };
  const notice = known.state === 'firing' ? ({ state: 'resolved', firedAt: known.since } as const) : null;
  return { next: inactive(now), notice };
}

import { describe, expect, it } from 'vitest';
import { type AlertState, type AlertStep, alertRepeatMs, type Evaluation, stepAlert } from './alert-state.ts';

const on: Evaluation = { holds: true };
const off: Evaluation = { holds: false };
const start = Date.parse('2026-10-06T14:00:00Z');

/** Evaluates once every `everyMs`; `jumps` are added to the wall clock only. */
function run(
  evaluations: Evaluation[],
  { forMs = 0, everyMs = 1000, jumps = {} as Record<number, number> } = {},
) {
  let state: AlertState | null = null;
  let wall = start;
  const steps: AlertStep[] = evaluations.map((evaluation, index) => {
    wall += everyMs + (jumps[index] ?? 0);
    const elapsedMs = index === 0 ? 0 : everyMs;
    const step = stepAlert(state, evaluation, forMs, { elapsedMs, now: new Date(wall).toISOString() });
    state = step.next;
    return step;
  });
  return {
    notices: steps.map(({ notice }) => notice?.state ?? '-'),
    states: steps.map(({ next }) => next.state),
    steps,
  };
}

describe('the state of an alert', () => {
  it('fires once on the rising edge and resolves once', () => {
    expect(run([off, on, on, on, off, off]).notices).toEqual(['-', 'firing', '-', '-', 'resolved', '-']);
    expect(run([on, off, on]).notices).toEqual(['firing', 'resolved', 'firing']);
  });

  it('fires once the condition has held for long enough', () => {
    const { states, notices } = run([on, on, on, on, on], { forMs: 3000 });
    expect(states).toEqual(['pending', 'pending', 'pending', 'firing', 'firing']);
    expect(notices).toEqual(['-', '-', '-', 'firing', '-']);
  });

  it('starts the time anew when the condition stops to hold, without a notice', () => {
    const { states, notices } = run([on, on, off, on, on, on], { forMs: 2000 });
    expect(states).toEqual(['pending', 'pending', 'inactive', 'pending', 'pending', 'firing']);
    expect(notices).toEqual(['-', '-', '-', '-', '-', 'firing']);
  });

  it('repeats the notice hourly with the time at which it fired', () => {
    const evaluations = Array.from({ length: 250 }, () => on);
    const { steps } = run(evaluations, { everyMs: 30_000 });
    const notices = steps.flatMap(({ notice }, index) => (notice ? [{ ...notice, index }] : []));
    expect(notices.map(({ index }) => index)).toEqual([
      0,
      alertRepeatMs / 30_000,
      (2 * alertRepeatMs) / 30_000,
    ]);
    expect(new Set(notices.map(({ firedAt }) => firedAt)).size).toBe(1);
  });

  it('does not follow jumps of the wall clock', () => {
    const jumps = { 2: 3_600_000, 4: -7_200_000, 6: 86_400_000 };
    expect(run([on, on, on, on, on, on, on, off], { jumps }).notices).toEqual(
      run([on, on, on, on, on, on, on, off]).notices,
    );
    expect(run([on, on, on, on], { forMs: 10_000, jumps }).states).toEqual(Array(4).fill('pending'));
  });

  it('keeps its state across a restart, and counts no time for it', () => {
    const clock = { elapsedMs: 0, now: '2026-10-06T15:00:00.000Z' };
    const pending: AlertState = {
      state: 'pending',
      since: '2026-10-06T14:00:00.000Z',
      pendingMs: 4000,
      quietMs: 0,
      error: null,
    };
    expect(stepAlert(pending, on, 5000, clock)).toMatchObject({ next: pending, notice: null });
    const firing: AlertState = { ...pending, state: 'firing', pendingMs: 0, quietMs: 1000 };
    expect(stepAlert(firing, on, 5000, clock)).toMatchObject({ next: firing, notice: null });
    expect(stepAlert(firing, off, 5000, clock).notice).toEqual({ state: 'resolved', firedAt: firing.since });
  });

  it('says once that evaluations fail, and changes nothing else meanwhile', () => {
    const failed: Evaluation = { error: 'division by zero' };
    const { steps, notices, states } = run([on, failed, { error: 'other' }, on, failed, off]);
    expect(steps.map(({ beganToFail }) => beganToFail)).toEqual([false, true, false, false, true, false]);
    expect(steps.map(({ next }) => next.error)).toEqual([
      null,
      'division by zero',
      'division by zero',
      null,
      'division by zero',
      null,
    ]);
    expect(states).toEqual(['firing', 'firing', 'firing', 'firing', 'firing', 'inactive']);
    expect(notices).toEqual(['firing', '-', '-', '-', '-', 'resolved']);
  });
});

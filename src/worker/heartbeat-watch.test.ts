import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeartbeatWatch } from './heartbeat-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const state = { ticks: 0, hangs: [] as number[] };
  const watch = new HeartbeatWatch(
    () => String(state.ticks),
    (seconds) => state.hangs.push(seconds),
  );
  return { state, watch, look: (times = 1) => vi.advanceTimersByTime(times * 5000) };
}

it('a process that stands still is reported after 15 s, and hangs after a minute', () => {
  const { state, watch, look } = watched();
  look(3);
  expect(watch.hangs).toBe(false);
  look();
  expect(watch.hangs).toBe(true);
  look(8);
  expect(state.hangs).toEqual([]);
  look(1);
  expect(state.hangs).toEqual([65]);
  watch.end();
  expect(watch.hangs).toBe(false);
});

it('a message begins the minute anew', () => {
  const { state, watch, look } = watched();
  for (let minute = 0; minute < 30; minute++) {
    look(11);
    watch.heard();
    expect(watch.hangs).toBe(false);
  }
  expect(state.hangs).toEqual([]);
});

it('a process without a message hangs only after ten minutes while it gets processor time', () => {
  const { state, watch, look } = watched();
  for (let times = 1; times < 120; times++) {
    state.ticks += 1;
    look();
  }
  expect([watch.hangs, state.hangs]).toEqual([false, []]);
  state.ticks += 1;
  look();
  expect(state.hangs).toEqual([600]);
});

it('an ended watch looks no more', () => {
  const { state, watch, look } = watched();
  watch.end();
  look(1000);
  expect(state.hangs).toEqual([]);
});

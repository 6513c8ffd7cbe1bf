import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PollTimer, runPolled } from './polled-sweep.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;

it('a poll timer polls soon after activity, and seldom while nothing arrives', async () => {
  const timer = new PollTimer();
  vi.advanceTimersByTime(1000);
  let polls = 0;
  const poll = () => timer.next(never).then(() => polls++);
  void poll();
  await vi.advanceTimersByTimeAsync(4);
  expect(polls).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(polls).toBe(1);
  timer.noteActivity(performance.now());
  void poll();
  await vi.advanceTimersByTimeAsync(1);
  expect(polls).toBe(2);
  void poll();
  timer.wake();
  await Promise.resolve();
  expect(polls).toBe(3);
});

it('a sweep yields responses and decisions in turn, and closes when its reader stops', async () => {
  const steps: string[] = [];
  const sweep = {
    timer: new PollTimer(),
    finished: false,
    responses: () => ['response'],
    decisions: () => ['decision'],
    expire: () => void steps.push('expire'),
    fill: () => void steps.push('fill'),
    requestTokens: () => void steps.push('tokens'),
    close: () => void steps.push('close'),
  };
  const results = runPolled(sweep, never);
  expect([(await results.next()).value, (await results.next()).value]).toEqual(['response', 'decision']);
  await results.return();
  expect(steps).toEqual(['expire', 'fill', 'tokens', 'close']);
});

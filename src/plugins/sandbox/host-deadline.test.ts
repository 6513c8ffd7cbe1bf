import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostDeadline } from './host-deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** @param share of the time in which the process waits for a processor */
function deadlineOf(ms: number, share: number) {
  const expire = vi.fn();
  return { deadline: new HostDeadline(ms, () => 500 + performance.now() * share, expire), expire };
}

describe('the deadline of a response', () => {
  it('expires once after its time', () => {
    const { expire } = deadlineOf(1000, 0);
    vi.advanceTimersByTime(990);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('counts no time in which the process waits for a processor', () => {
    const { expire } = deadlineOf(1000, 0.75);
    vi.advanceTimersByTime(3990);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('expires after ten times its time at the latest', () => {
    const { expire } = deadlineOf(1000, 1);
    vi.advanceTimersByTime(9990);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('never expires once it is stopped, even by what is read when its time is over', () => {
    const { deadline, expire } = deadlineOf(1000, 0);
    setTimeout(() => setImmediate(() => deadline.stop()), 999);
    vi.advanceTimersByTime(5000);
    expect(expire).not.toHaveBeenCalled();
  });
});

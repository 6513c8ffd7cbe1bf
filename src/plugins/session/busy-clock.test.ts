import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BusyClock } from './busy-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function clockOf(limitMs: number) {
  const expire = vi.fn();
  return { clock: new BusyClock(limitMs, expire), expire };
}

describe('the clock of a plugin', () => {
  it('expires once at its limit', () => {
    const { expire } = clockOf(100);
    vi.advanceTimersByTime(99);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('stands still while the plugin waits for the scan, however many calls wait', () => {
    const { clock, expire } = clockOf(100);
    vi.advanceTimersByTime(60);
    const first = clock.wait();
    const second = clock.wait();
    vi.advanceTimersByTime(1000);
    first();
    first();
    vi.advanceTimersByTime(1000);
    expect(expire).not.toHaveBeenCalled();
    second();
    vi.advanceTimersByTime(39);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('counts work up to a bound only', async () => {
    const { clock, expire } = clockOf(100);
    const work = Promise.withResolvers<string>();
    const counted = clock.countUpTo(70, () => work.promise);
    vi.advanceTimersByTime(10_000);
    work.resolve('done');
    expect(await counted).toBe('done');
    vi.advanceTimersByTime(29);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('never expires once it is stopped, also if a wait ends later', () => {
    const { clock, expire } = clockOf(100);
    const endWait = clock.wait();
    clock.stop();
    endWait();
    vi.advanceTimersByTime(1000);
    expect(expire).not.toHaveBeenCalled();
  });
});

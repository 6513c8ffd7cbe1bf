import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PauseGate } from './pause-gate.ts';

const never = new AbortController().signal;

describe('a pause gate', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('releases whoever waits when it opens, and rejects who was aborted', async () => {
    const gate = new PauseGate();
    expect(await gate.released(never)).toBe(true);
    gate.hold();
    const cancel = new AbortController();
    const waits = [gate.released(never), gate.released(cancel.signal)];
    cancel.abort();
    expect(await waits[1]).toBe(false);
    gate.release();
    expect(await waits[0]).toBe(true);
    expect(await gate.released(cancel.signal)).toBe(false);
  });

  it('counts how often and how long it paused', () => {
    const gate = new PauseGate();
    gate.hold();
    gate.hold();
    vi.advanceTimersByTime(30);
    expect(gate.pausedMs).toBe(30);
    gate.release();
    vi.advanceTimersByTime(20);
    expect(gate.pausedMs).toBe(30);
    expect(gate.times).toBe(1);
    gate.hold();
    vi.advanceTimersByTime(5);
    gate.release();
    expect([gate.pausedMs, gate.times]).toEqual([35, 2]);
  });

  it('has timers that stand still during a pause', () => {
    const gate = new PauseGate();
    const fired: string[] = [];
    gate.after(60, () => fired.push('late'));
    const stop = gate.after(20, () => fired.push('stopped'));
    stop();
    vi.advanceTimersByTime(20);
    gate.hold();
    gate.after(10, () => fired.push('begun during the pause'));
    vi.advanceTimersByTime(100);
    expect(fired).toEqual([]);
    gate.release();
    vi.advanceTimersByTime(9);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['begun during the pause']);
    vi.advanceTimersByTime(29);
    expect(fired).toEqual(['begun during the pause']);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['begun during the pause', 'late']);
  });
});

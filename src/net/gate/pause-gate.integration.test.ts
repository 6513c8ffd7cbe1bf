import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PauseGate } from './pause-gate.ts';

const never = new AbortController().signal;

describe('Hold', () => {
  it('lets go who waits when it is released, and refuses who was aborted', async () => {
    const hold = new PauseGate();
    expect(await hold.released(never)).toBe(true);
    hold.hold();
    const cancel = new AbortController();
    const waits = [hold.released(never), hold.released(cancel.signal)];
    cancel.abort();
    expect(await waits[1]).toBe(false);
    hold.release();
    expect(await waits[0]).toBe(true);
    expect(await hold.released(cancel.signal)).toBe(false);
  });

  it('counts how often and how long', async () => {
    const hold = new PauseGate();
    hold.hold();
    hold.hold();
    await sleep(30);
    hold.release();
    const { pendingMs } = hold;
    expect(pendingMs).toBeGreaterThan(25);
    await sleep(20);
    expect(hold.pendingMs).toBe(pendingMs);
    expect(hold.times).toBe(1);
  });

  it('has timers that stand still', async () => {
    const hold = new PauseGate();
    const fired: string[] = [];
    hold.after(60, () => fired.push('late'));
    const stop = hold.after(20, () => fired.push('stopped'));
    stop();
    await sleep(20);
    hold.hold();
    hold.after(1, () => fired.push('begun while held'));
    await sleep(100);
    expect(fired).toEqual([]);
    hold.release();
    await sleep(20);
    expect(fired).toEqual(['begun while held']);
    await sleep(60);
    expect(fired).toEqual(['begun while held', 'late']);
  });
});

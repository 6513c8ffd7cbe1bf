import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { PauseGate } from '../../net/gate/pause-gate.ts';
import { failureFrom, ScanAbort, ScanStop } from './failure.ts';

const never = new AbortController().signal;

describe('ScanStop', () => {
  it('ends at the shorter limit, with the code timeout', async () => {
    const stop = new ScanStop(never, { max_duration: '20ms' }, 60_000, 0);
    await sleep(60);
    expect(failureFrom(stop.signal.reason)).toEqual({
      code: 'timeout',
      message: 'the scan ran longer than its limit of 0.02 s',
    });
    stop.release();
  });

  it('counts what earlier runs took', async () => {
    const stop = new ScanStop(never, {}, 60_000, 59_990);
    await sleep(60);
    expect(stop.signal.aborted).toBe(true);
    stop.release();
  });

  it('does not count the time of a pause', async () => {
    const hold = new PauseGate();
    const stop = new ScanStop(never, { max_duration: '40ms' }, 0, 0, hold);
    hold.hold();
    await sleep(100);
    expect(stop.signal.aborted).toBe(false);
    hold.release();
    await sleep(80);
    expect(stop.signal.aborted).toBe(true);
  });

  it('follows the outside, and nothing once it is released', async () => {
    const outside = new AbortController();
    const stop = new ScanStop(outside.signal, {}, 0, 1e9);
    const released = new ScanStop(outside.signal, { max_duration: '10ms' }, 0, 0);
    released.release();
    await sleep(30);
    outside.abort(new ScanAbort('canceled', 'enough'));
    expect(failureFrom(stop.signal.reason)).toEqual({ code: 'canceled', message: 'enough' });
    expect(released.signal.aborted).toBe(false);
  });
});

it.each([
  [new PortolanError('insufficient_storage', 'full'), 'insufficient_storage'],
  [new PortolanError('permission', 'no'), 'permission'],
  [new Error('odd'), 'pipeline_failed'],
])('%s ends a scan as %s', (error, code) => {
  expect(failureFrom(error).code).toBe(code);
});

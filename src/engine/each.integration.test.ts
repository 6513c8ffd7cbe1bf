import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forEachItem } from './each.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const context = (signal = new AbortController().signal) => ({ signal, log, instanceId: 'test' });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('forEachItem', () => {
  it('works on every item, never on more than `concurrency` at once', async () => {
    let now = 0;
    let most = 0;
    const seen: number[] = [];
    const tally = await forEachItem(context(), numbers(100), { concurrency: 7 }, async (item) => {
      most = Math.max(most, ++now);
      await sleep(Math.random() * 3);
      now--;
      seen.push(item);
    });
    expect(tally).toEqual({ done: 100, failed: 0 });
    expect(most).toBe(7);
    expect(seen.sort((a, b) => a - b)).toEqual(numbers(100));
  });

  it('isolates an item that throws, at once or late', async () => {
    const errors: unknown[] = [];
    const tally = await forEachItem(
      context(),
      numbers(10),
      { concurrency: 2, onError: (error) => errors.push(error) },
      async (item) => {
        if (item % 2 === 0) await sleep(1);
        if (item === 3 || item === 4) throw new Error(`item ${item}`);
      },
    );
    expect(tally).toEqual({ done: 8, failed: 2 });
    expect(errors.length).toBe(2);
  });

  it('throws with the first cause when every item failed', async () => {
    const failing = forEachItem(context(), numbers(3), { concurrency: 1 }, () => {
      throw new Error('nothing works');
    });
    await expect(failing).rejects.toMatchObject({
      message: 'every item failed',
      cause: { message: 'nothing works' },
    });
  });

  it('stops pulling items once aborted and throws the reason', async () => {
    const abort = new AbortController();
    let pulled = 0;
    const endless = (function* () {
      for (;;) yield pulled++;
    })();
    const work = forEachItem(context(abort.signal), endless, { concurrency: 4 }, async (item) => {
      if (item === 20) abort.abort(new Error('canceled'));
      await sleep(0);
    });
    await expect(work).rejects.toThrow('canceled');
    expect(pulled).toBeLessThan(30);
  });
});

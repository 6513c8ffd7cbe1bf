import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchItems, batchMs } from '../host/messages.ts';
import { ItemBatches, valueBatches } from './item-batches.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A stream that gives what is pushed, and counts what was taken. */
function source() {
  const waiting: unknown[] = [];
  let wake = () => {};
  const state = { taken: 0, ended: false };
  async function* stream() {
    for (;;) {
      while (waiting.length > 0) {
        state.taken += 1;
        yield waiting.shift();
      }
      if (state.ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return {
    state,
    batches: new ItemBatches(stream()),
    push: (...items: unknown[]) => {
      waiting.push(...items);
      wake();
    },
    end: () => {
      state.ended = true;
      wake();
    },
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('batches of a stream', () => {
  it('are sent when they are full, and read one batch ahead at most', async () => {
    const { batches, push, state } = source();
    push(...numbers(1000));
    expect(state.taken).toBe(0);
    expect(await batches.next()).toEqual({ items: numbers(batchItems), end: false });
    await vi.advanceTimersByTimeAsync(1);
    expect(state.taken).toBe(2 * batchItems);
  });

  it('are sent when the first item has waited for others', async () => {
    const { batches, push } = source();
    const next = batches.next();
    let isSent = false;
    void next.then(() => {
      isSent = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    push('a');
    await vi.advanceTimersByTimeAsync(batchMs - 1);
    push('b');
    expect(isSent).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toEqual({ items: ['a', 'b'], end: false });
  });

  it('end with the stream, and stay ended', async () => {
    const { batches, push, end } = source();
    push(1, 2);
    end();
    expect(await batches.next()).toEqual({ items: [1, 2], end: true });
    expect(await batches.next()).toEqual({ items: [], end: true });
  });

  it('give what came before an error, then the error', async () => {
    async function* failing() {
      yield 1;
      throw new Error('broken');
    }
    const batches = new ItemBatches(failing());
    expect(await batches.next()).toEqual({ items: [1], end: false });
    await expect(batches.next()).rejects.toThrow('broken');
  });
});

describe('batches of a complete value', () => {
  it('are those of a list', async () => {
    const batches = valueBatches(numbers(batchItems + 1));
    expect(await batches.next()).toEqual({ items: numbers(batchItems), end: false });
    expect(await batches.next()).toEqual({ items: [batchItems], end: true });
  });

  it('are one for what is no list, and one for an empty list', async () => {
    expect(await valueBatches({ a: 1 }).next()).toEqual({ items: [{ a: 1 }], end: true, single: true });
    expect(await valueBatches([]).next()).toEqual({ items: [], end: true });
  });
});

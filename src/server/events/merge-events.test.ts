import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { mergedEvents } from './merge-events.ts';

async function* numbers(from: number, count: number, read: number[] = []): AsyncGenerator<number> {
  for (let index = 0; index < count; index++) {
    read.push(from + index);
    yield from + index;
  }
}

async function* silent(signal: AbortSignal): AsyncGenerator<number> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  yield* [];
}

describe('mergedEvents', () => {
  it('takes the sources in turn and keeps the order of each', async () => {
    const found: number[] = [];
    for await (const event of mergedEvents([numbers(0, 3), numbers(10, 3)], new AbortController()))
      found.push(event);
    expect(found).toEqual([0, 10, 1, 11, 2, 12]);
  });

  it('reads no further than its reader', async () => {
    const read: number[] = [];
    const stop = new AbortController();
    const merged = mergedEvents([numbers(0, 1000, read)], stop);
    await merged.next();
    for (let index = 0; index < 20; index++) await turn();
    expect(read.length).toBeLessThan(3);
    await merged.return(undefined);
    expect(stop.signal.aborted).toBe(true);
  });

  it('ends its sources when the reader leaves, also silent ones', async () => {
    const stop = new AbortController();
    for await (const _event of mergedEvents([numbers(0, 9), silent(stop.signal)], stop)) break;
    expect(stop.signal.aborted).toBe(true);
  });

  it('throws the error of a source', async () => {
    const stop = new AbortController();
    async function* failing(): AsyncGenerator<number> {
      yield 1;
      throw new Error('torn');
    }
    const found: number[] = [];
    await expect(async () => {
      for await (const event of mergedEvents([failing(), silent(stop.signal)], stop)) found.push(event);
    }).rejects.toThrow('torn');
    expect(found).toEqual([1]);
  });
});

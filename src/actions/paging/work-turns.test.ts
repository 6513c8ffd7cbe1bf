import { describe, expect, it } from 'vitest';
import { itemsPerTurn, mapInTurns, nextTurn, oneByOne } from './work-turns.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('mapInTurns', () => {
  it('maps no more than so many items between two turns of the event loop', async () => {
    let mapped = 0;
    const perTurn: number[] = [];
    let working = true;
    const look = () => {
      perTurn.push(mapped);
      mapped = 0;
      if (working) setImmediate(look);
    };
    setImmediate(look);
    const doubled = await mapInTurns(numbers(1000), (n) => {
      mapped += 1;
      return 2 * n;
    });
    working = false;
    await nextTurn();
    expect(doubled).toEqual(numbers(1000).map((n) => 2 * n));
    expect(Math.max(...perTurn)).toBe(itemsPerTurn);
    expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(1000);
  });

  it('maps a short list at once', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    expect(await mapInTurns(numbers(itemsPerTurn), (n) => n)).toHaveLength(itemsPerTurn);
    expect(turned).toBe(false);
  });
});

describe('oneByOne', () => {
  it('begins no work before the earlier one has ended, also where that failed', async () => {
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await nextTurn();
      steps.push(`${name} ends`);
      if (name === 'a') throw new Error('a');
      return name;
    };
    const outcomes = await Promise.allSettled([oneByOne(work('a')), oneByOne(work('b'))]);
    expect(outcomes).toMatchObject([{ status: 'rejected' }, { value: 'b' }]);
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });
});

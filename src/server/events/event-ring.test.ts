import { describe, expect, it } from 'vitest';
import { EventRing } from './event-ring.ts';

describe('EventRing', () => {
  it('replays the events after a sequence', () => {
    const ring = new EventRing(4);
    for (const name of ['a', 'b', 'c']) ring.push('scan', name);
    expect(ring.last).toBe(3);
    expect(ring.after(1)?.map(({ data }) => data)).toEqual(['b', 'c']);
    expect(ring.after(3)).toEqual([]);
    expect(ring.after(0)).toHaveLength(3);
  });

  it('knows that it lacks overwritten events, and those of another ring', () => {
    const ring = new EventRing(4);
    for (let index = 1; index <= 50; index++) ring.push('scan', String(index));
    expect(ring.after(0)).toBeNull();
    expect(ring.after(51)).toBeNull();
    expect(ring.after(46)?.map(({ sequence }) => sequence)).toEqual([47, 48, 49, 50]);
    expect(new EventRing().epoch).not.toBe(ring.epoch);
  });

  it('has at least 1,000 events', () => {
    const ring = new EventRing();
    for (let index = 1; index <= 10_000; index++) {
      ring.push('scan', '');
      expect(ring.after(Math.max(0, index - 1000))).toHaveLength(Math.min(index, 1000));
    }
  });
});

import { describe, expect, it } from 'vitest';
import { roomFor } from './shard-room.ts';

const runs = (large: number, small: number) => [
  ...Array.from({ length: large }, () => ({ isSmall: false })),
  ...Array.from({ length: small }, () => ({ isSmall: true })),
];

describe('the room of a worker', () => {
  it.each([
    { large: 0, small: 0, all: true, smalls: true, begun: true },
    { large: 2, small: 0, all: true, smalls: true, begun: true },
    { large: 3, small: 0, all: false, smalls: true, begun: true },
    // A shard that another worker lost came in addition: the place for small scans is still free.
    { large: 4, small: 0, all: false, smalls: true, begun: false },
    { large: 3, small: 1, all: false, smalls: false, begun: true },
    { large: 4, small: 1, all: false, smalls: false, begun: false },
    { large: 0, small: 3, all: true, smalls: true, begun: true },
    { large: 0, small: 4, all: false, smalls: false, begun: true },
    { large: 0, small: 5, all: false, smalls: false, begun: false },
  ])('with four places, $large large runs and $small small ones is $all, $smalls, $begun', (given) => {
    expect(roomFor(runs(given.large, given.small), 4)).toEqual({
      all: given.all,
      small: given.smalls,
      begun: given.begun,
    });
  });

  it('with two places is for every shard', () => {
    expect(roomFor(runs(1, 0), 2)).toEqual({ all: true, small: true, begun: true });
    expect(roomFor(runs(2, 0), 2)).toEqual({ all: false, small: false, begun: true });
    expect(roomFor(runs(3, 0), 2)).toEqual({ all: false, small: false, begun: false });
  });

  it('with a single place is for every shard', () => {
    expect(roomFor([], 1)).toEqual({ all: true, small: true, begun: true });
    expect(roomFor(runs(1, 0), 1)).toEqual({ all: false, small: false, begun: true });
    expect(roomFor(runs(2, 0), 1)).toEqual({ all: false, small: false, begun: false });
  });
});

import { describe, expect, it } from 'vitest';
import { roomFor } from './shard-room.ts';

const runs = (large: number, small: number) => [
  ...Array.from({ length: large }, () => ({ isSmall: false })),
  ...Array.from({ length: small }, () => ({ isSmall: true })),
];

describe('the room of a worker', () => {
  it.each([
    { large: 0, small: 0, all: true, forSmall: true, begun: true },
    { large: 1, small: 0, all: true, forSmall: true, begun: true },
    { large: 2, small: 0, all: false, forSmall: true, begun: true },
    { large: 3, small: 0, all: false, forSmall: false, begun: false },
    { large: 1, small: 1, all: false, forSmall: false, begun: true },
    { large: 2, small: 1, all: false, forSmall: false, begun: false },
    { large: 0, small: 2, all: false, forSmall: false, begun: true },
  ])('with two places, $large large runs and $small small ones is $all, $forSmall, $begun', (given) => {
    const { all, forSmall, begun } = given;
    expect(roomFor(runs(given.large, given.small), 2)).toEqual({ all, small: forSmall, begun });
  });

  it('with a single place has none for small scans', () => {
    expect(roomFor([], 1)).toEqual({ all: true, small: true, begun: true });
    expect(roomFor(runs(1, 0), 1)).toEqual({ all: false, small: false, begun: true });
    expect(roomFor(runs(2, 0), 1)).toEqual({ all: false, small: false, begun: false });
  });
});

import { describe, expect, it } from 'vitest';
import { Rounds } from './rounds.ts';

const certain = { share: 1, probes: 1000 };

function counting() {
  const counts = { sent: [0, 0], responses: [0, 0] };
  const rounds = new Rounds(0);
  const add = (sent: number, responses: number, parity = rounds.parity) => {
    counts.sent[parity] = (counts.sent[parity] ?? 0) + sent;
    counts.responses[parity] = (counts.responses[parity] ?? 0) + responses;
  };
  const tick = (now: number, roundTripMs = 1, usual: typeof certain | null = certain) =>
    rounds.tick(now, counts, 0, roundTripMs, usual);
  return { counts, rounds, add, tick };
}

describe('rounds', () => {
  it('end after 20 ms with enough probes, and are complete with their last response', () => {
    const { rounds, add, tick } = counting();
    add(20, 19);
    expect([tick(19), rounds.parity]).toEqual([null, 0]);
    expect([tick(20), rounds.parity]).toEqual([null, 1]);
    add(30, 30);
    expect(tick(25)).toBeNull();
    add(0, 1, 0);
    expect(tick(30)).toEqual({ sent: 20, responses: 20, usual: certain, beganAt: 0, ms: 20 });
    expect(tick(39)).toBeNull();
    tick(40);
    expect(tick(45)).toEqual({ sent: 30, responses: 30, usual: certain, beganAt: 20, ms: 20 });
  });

  it('wait for more probes where hardly one gets a response', () => {
    const { rounds, add, tick } = counting();
    const rare = { share: 0.05, probes: 10_000 };
    add(1000, 50);
    tick(100, 1, rare);
    expect(rounds.parity).toBe(0);
    add(700, 35);
    tick(200, 1, rare);
    expect(rounds.parity).toBe(1);
  });

  it('are given the round trip, and time beyond it before missing responses count as lost', () => {
    const { add, tick } = counting();
    add(100, 50);
    tick(20, 300);
    expect(tick(400, 300)).toBeNull();
    expect(tick(719, 300)).toBeNull();
    expect(tick(720, 300)).toMatchObject({ sent: 100, responses: 50 });
  });

  it('are in doubt once responses are overdue, until they come or are lost', () => {
    const { rounds, add, tick } = counting();
    const doubtAt = (now: number) => [tick(now, 30) !== null, rounds.isInDoubt];
    add(100, 50);
    expect([20, 59, 60, 179].map(doubtAt)).toEqual([
      [false, false],
      [false, false],
      [false, true],
      [false, true],
    ]);
    add(0, 50, 0);
    expect(doubtAt(179)).toEqual([true, false]);
    add(100, 50);
    expect([180, 220, 339, 340].map(doubtAt)).toEqual([
      [false, false],
      [false, true],
      [false, true],
      [true, false],
    ]);
  });

  it('count responses for the round of their probe, whenever they come', () => {
    const { add, tick } = counting();
    add(100, 0);
    tick(20, 50);
    add(100, 0);
    add(0, 100, 0);
    expect(tick(60, 50)).toMatchObject({ sent: 100, responses: 100 });
    add(0, 100, 1);
    expect(tick(130, 50)).toMatchObject({ sent: 100, responses: 100 });
  });

  it('start anew after a restart: what was sent before is not judged', () => {
    const { counts, rounds, add, tick } = counting();
    add(100, 10);
    rounds.restart(10, counts, 0);
    add(20, 20);
    expect(tick(30)).toBeNull();
    expect(tick(35)).toMatchObject({ sent: 20, responses: 20, beganAt: 10 });
  });

  it('without any round trip known are waited for a second', () => {
    const { rounds, add, tick } = counting();
    add(20, 0);
    tick(20, -1);
    expect(rounds.parity).toBe(1);
    expect(tick(1019, -1)).toBeNull();
    expect(tick(1020, -1)).toMatchObject({ sent: 20, responses: 0 });
  });
});

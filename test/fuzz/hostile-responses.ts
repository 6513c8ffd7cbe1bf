import { expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';

/** The same answers at every run, and others each time: the number is in the title, for `--seed`. */
const seeds = [20_261_122, Math.floor(Math.random() * 2 ** 31)];

/** @param answers of each seed, among all readers */
export function testHostileResponses(answers: number): void {
  it.each(seeds)(
    'hostile answers to every reader, seed %i: no uncaught error, none without end',
    async (seed) => {
      const { byParser, findings } = await runCampaign({ seed, answers, threads: 2, timed: false });
      const shown = findings.map(
        ({ parser, reason, input }) => `${parser}: ${reason}: ${input.slice(0, 2000)}`,
      );
      expect(shown.slice(0, 5)).toEqual([]);
      for (const [name, tally] of byParser) {
        expect(tally.answers, name).toBeGreaterThan(20);
        expect(tally.faults, name).toBe(0);
      }
    },
    300_000,
  );
}

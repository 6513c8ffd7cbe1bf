import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';
import { batchSeed, largestResponse, Mutator, random } from './mutate.ts';
import { parsers } from './parsers.ts';

/** Hostile answers of each run; `npm run bench:fuzz` reads ten million. */
const answers = Number(process.env['PORTOLAN_FUZZ_ANSWERS'] ?? 120_000);
/** The same answers at every run, and others each time: the number is in the title, for `--seed`. */
const seeds = [20_261_122, Math.floor(Math.random() * 2 ** 31)];

const source = join(import.meta.dirname, '../../src');
/** Files that read no bytes: what makes some for tests or for hellos, tables, and what judges facts. */
const readsNothing = new Set([
  'test-certificate.ts',
  'client-hello.ts',
  'groups.ts',
  'suites.ts',
  'enumeration-facts.ts',
  'versions.ts',
  'weaknesses.ts',
  'weakness-texts.ts',
  'recognized-service.ts',
]);

describe('the registry of readers', () => {
  it.each(['knowledge/protocols', 'knowledge/tls'])('knows every reader in %s', (folder) => {
    const covered = new Set(parsers.flatMap(({ covers }) => covers));
    const missing = readdirSync(join(source, folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !readsNothing.has(name))
      .map((name) => `${folder}/${name}`)
      .filter((file) => !covered.has(file));
    expect(missing, 'add them to test/fuzz/parsers.ts').toEqual([]);
  });

  it('names modules that exist, each reader by a name of its own, with answers to begin with', () => {
    for (const { covers } of parsers)
      expect(covers.filter((file) => !existsSync(join(source, file)))).toEqual([]);
    expect(new Set(parsers.map(({ name }) => name)).size).toBe(parsers.length);
    for (const { name, seeds: right } of parsers) expect(right.length, name).toBeGreaterThan(0);
  });
});

describe('the generator', () => {
  it('makes the same answers for the same seed, others for another, and none that is too long', () => {
    const make = (seed: number) => {
      const mutator = new Mutator(
        [Buffer.from('HTTP/1.1 200 OK\r\n\r\nx')],
        random(batchSeed(seed, 'http', 3)),
      );
      return Array.from({ length: 3000 }, () => mutator.next());
    };
    const first = make(1).map((bytes) => bytes.toString('base64'));
    expect(make(1).map((bytes) => bytes.toString('base64'))).toEqual(first);
    expect(make(2)[0]?.toString('base64')).not.toBe(first[0]);
    expect(new Set(first).size).toBeGreaterThan(2000);
    expect(Math.max(...make(1).map(({ length }) => length))).toBeLessThanOrEqual(largestResponse);
  });
});

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

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testHostileResponses } from './hostile-responses.ts';
import { batchSeed, largestResponse, Mutator, random } from './mutate.ts';
import { parsers } from './parsers.ts';

/** Hostile answers of each run; fuzz.system.test.ts reads twice as many, `npm run bench:fuzz` ten million. */
const answers = 60_000;

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

testHostileResponses(answers);

import { expect, test } from 'vitest';
import { type Banner, describeBytes } from '../../domain/banner.ts';
import { claimsOf } from './claims.ts';
import { compileMatcher, matchInputLimit } from './matcher.ts';
import { builtinCatalogue, Catalogue } from './rule-catalog.ts';

test('matches bytes as latin1 and gives named groups', () => {
  const match = compileMatcher('^\\xff(?P<a>.)(?P<b>x)?', 's').match('\xff\n');
  expect(match?.groups).toEqual(
    new Map([
      ['1', '\n'],
      ['a', '\n'],
    ]),
  );
});

test('text beyond the limit is not looked at', () => {
  expect(compileMatcher('needle').match(`${'x'.repeat(matchInputLimit)}needle`)).toBeNull();
});

test('bad patterns and flags are refused', () => {
  expect(() => compileMatcher('(')).toThrow();
  expect(() => compileMatcher('a', 'q')).toThrow(/unknown flag "q"/);
});

const size = 64 * 1024;

/** Text that nearly matches, over and over. */
function baits(example: string): string[] {
  const fill = (text: string) => text.repeat(Math.ceil(size / Math.max(1, text.length))).slice(0, size);
  const head = example.slice(0, Math.ceil(example.length / 2));
  return [
    fill(example),
    fill(head),
    head + fill('a'),
    head + fill('1.'),
    example.slice(0, -1) + fill(' \n'),
  ].map((text) => `${text.slice(0, size - 1)}!`);
}

/** The shortest of three runs: the machine may have been busy with something else. */
function timeOf(work: () => void, limit: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && best > limit; run++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

test('baits built against every signature are matched in linear time', () => {
  for (const signature of builtinCatalogue.signatures) {
    const alone = new Catalogue([signature]);
    for (const bait of baits(signature.examples[0]?.text ?? '')) {
      alone.match(signature.source, 'warm');
      const milliseconds = timeOf(() => alone.match(signature.source, bait), 50);
      expect(milliseconds, `${signature.id} on ${JSON.stringify(bait.slice(0, 60))}`).toBeLessThan(50);
    }
  }
}, 120_000);

test('all signatures together stay below a second on any bait', () => {
  const sources = [...new Set(builtinCatalogue.signatures.map(({ source }) => source))];
  for (const signature of builtinCatalogue.signatures.filter((_, index) => index % 10 === 0)) {
    for (const bait of baits(signature.examples[0]?.text ?? '')) {
      const everything = () => sources.forEach((source) => void builtinCatalogue.match(source, bait));
      expect(timeOf(everything, 1000), signature.id).toBeLessThan(1000);
      const banner: Banner = {
        host: '192.0.2.1',
        port: 1,
        protocol: 'tcp',
        ...describeBytes(Buffer.from(bait, 'latin1')),
        probe: 'null',
        truncated: true,
        partial: false,
      };
      const claims = () => void claimsOf(banner, builtinCatalogue, ['banner', 'http', 'tls']);
      expect(timeOf(claims, 200), signature.id).toBeLessThan(200);
    }
  }
}, 120_000);

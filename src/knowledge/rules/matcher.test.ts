import { RE2JS } from 're2js';
import { afterEach, expect, test, vi } from 'vitest';
import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import { claimsOf } from './claims.ts';
import { compileMatcher, matchInputLimit } from './matcher.ts';
import { builtinRules } from './rule-catalog.ts';

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

/** Longer than the part that is matched. */
const size = 2 * matchInputLimit;

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

test('a pattern that makes others try every way takes each character once', () => {
  const match = (pattern: string, text: string) => compileMatcher(pattern).match(text);
  // A backtracking engine takes minutes for 36 characters, and twice as long for each further one.
  expect(match('^(?:a+)+$', `${'a'.repeat(36)}!`)).toBeNull();
  expect(match('^(?:a+)+$', `${'a'.repeat(4000)}!`)).toBeNull();
});

/** Instructions of all patterns that are tried on one response. */
const mostInstructions = 10_000;

/** Adds up the worst case of RE2: each instruction of a pattern once per character. Nothing is matched. */
class StepCounter {
  #steps = 0;

  constructor() {
    const counter = (pattern: RE2JS, text: string) =>
      void (this.#steps += pattern.programSize() * text.length);
    vi.spyOn(RE2JS.prototype, 'matcher').mockImplementation(function (this: RE2JS, text) {
      counter(this, String(text));
      return { find: () => false } as ReturnType<RE2JS['matcher']>;
    });
  }

  of(work: () => void): number {
    this.#steps = 0;
    work();
    return this.#steps;
  }
}

afterEach(() => void vi.restoreAllMocks());

const most = mostInstructions * matchInputLimit;

test('of the signatures of one kind of evidence few are tried, whatever it says', () => {
  const counter = new StepCounter();
  for (const { id, source, examples } of builtinRules.signatures.filter((_, index) => index % 3 === 0)) {
    for (const bait of baits(examples[0]?.text ?? ''))
      expect(
        counter.of(() => void builtinRules.match(source, bait)),
        id,
      ).toBeLessThan(most);
  }
});

test('of all signatures few are tried on one answer, whatever it says', () => {
  const counter = new StepCounter();
  for (const { id, examples } of builtinRules.signatures.filter((_, index) => index % 20 === 0)) {
    for (const bait of baits(examples[0]?.text ?? '')) {
      const banner: Banner = {
        host: '192.0.2.1',
        port: 1,
        protocol: 'tcp',
        ...describeBytes(Buffer.from(bait, 'latin1')),
        probe: 'null',
        truncated: true,
        partial: false,
      };
      const claims = () => void claimsOf(banner, builtinRules, ['banner', 'http', 'tls']);
      expect(counter.of(claims), id).toBeLessThan(most);
    }
  }
});

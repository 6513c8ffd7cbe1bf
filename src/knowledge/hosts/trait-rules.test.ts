import { expect, test } from 'vitest';
import { requiredLiterals } from '../rules/literals.ts';
import { deviceRules } from './device-rules.ts';
import { systemRules } from './system-rules.ts';
import { RuleBook, strongest } from './trait-rules.ts';

test.each([...systemRules.rules, ...deviceRules.rules])('$id matches its own example', (rule) => {
  const book = new RuleBook<unknown>([rule]);
  for (const source of rule.sources) expect([...book.match(source, rule.example)]).toHaveLength(1);
  expect(rule.weight > 0 && rule.weight < 1).toBe(true);
});

test('every rule has a literal that most texts lack, so that hardly any pattern runs', () => {
  for (const { rules } of [systemRules, deviceRules]) {
    expect(rules.filter(({ pattern }) => requiredLiterals(pattern) === null).map(({ id }) => id)).toEqual([]);
  }
});

test('ids are unique', () => {
  for (const { rules } of [systemRules, deviceRules]) {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  }
});

test('independent sources add up, voices of one source do not', () => {
  const voice = (value: string, weight: number, source: string, evidence = source) => ({
    value,
    weight,
    source,
    evidence,
  });
  expect(strongest([])).toEqual({ best: null, rival: 0 });
  const same = strongest([
    voice('a', 0.5, '22/tcp'),
    voice('a', 0.4, '22/tcp', 'title'),
    voice('b', 0.3, '80/tcp'),
  ]);
  expect(same.best).toEqual({ value: 'a', confidence: 0.5 });
  expect(same.rival).toBeCloseTo(0.3);
  const apart = strongest([voice('a', 0.5, '22/tcp'), voice('a', 0.5, '80/tcp')]);
  expect(apart.best?.confidence).toBeCloseTo(0.75);
  // One program on two ports is one source.
  const twice = strongest([voice('a', 0.5, '139/tcp', 'Samba'), voice('a', 0.5, '445/tcp', 'Samba')]);
  expect(twice.best?.confidence).toBeCloseTo(0.5);
  expect(
    strongest(Array.from({ length: 50 }, (_, port) => voice('a', 0.9, `${port}/tcp`))).best?.confidence,
  ).toBe(0.99);
});

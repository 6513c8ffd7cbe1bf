import { expect, it } from 'vitest';
import { defineModule } from './module.ts';
import type { OptionDefs } from './options.ts';
import { Registry } from './registry.ts';

const named = (name: string, options: OptionDefs = {}) =>
  defineModule({
    name,
    type: 'scanner',
    version: '1.0.0',
    description: '',
    options,
    requires: [],
    provides: [],
    execute: async () => undefined,
  });

it('loads an announced module once, on first use', () => {
  const registry = new Registry();
  const loaded: string[] = [];
  for (const name of ['first_one', 'second_one']) {
    const load = () => {
      loaded.push(name);
      return named(name);
    };
    registry.announce(name, load, 'builtin');
  }
  expect(registry.names()).toEqual(['first_one', 'second_one']);
  expect(registry.get('third_one')).toBeUndefined();
  expect(loaded).toEqual([]);
  expect(registry.get('second_one')).toBe(registry.get('second_one'));
  expect(loaded).toEqual(['second_one']);
  expect(registry.list().map(({ name, source }) => [name, source])).toEqual([
    ['first_one', 'builtin'],
    ['second_one', 'builtin'],
  ]);
  expect(loaded).toEqual(['second_one', 'first_one']);
});

it('knows each name once', () => {
  const registry = new Registry();
  registry.announce('first_one', () => named('first_one'), 'builtin');
  expect(() => registry.register(named('first_one'), 'other')).toThrow('already registered');
  expect(() => registry.announce('first_one', () => named('first_one'), 'other')).toThrow(
    'already registered',
  );
});

it('bounds the option `rate` by 100,000, or by the highest rate that is set now', () => {
  const registry = new Registry();
  const rate = { Type: 'int', Description: '', Default: 1000, Min: 1, Max: 10_000_000 } as const;
  registry.register(named('first_one', { rate }), 'builtin');
  const bounds = () => {
    const [listed] = registry.list();
    expect(listed?.options).toEqual(registry.get('first_one')?.options);
    const { Min, Max, Default } = listed?.options['rate'] ?? {};
    return [Min, Max, Default];
  };
  expect(bounds()).toEqual([1, 100_000, 1000]);
  let maxRate = 2_000_000;
  registry.maxRate = () => maxRate;
  expect(bounds()).toEqual([1, 2_000_000, 1000]);
  maxRate = 500;
  expect(bounds()).toEqual([1, 500, 500]);
});

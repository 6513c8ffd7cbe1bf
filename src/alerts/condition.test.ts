import { describe, expect, it } from 'vitest';
import { type AlertValues, alertVariableNames } from './alert-values.ts';
import { maxConditionLength, parseCondition } from './condition.ts';
import { translateWords } from './condition-words.ts';

const zero = Object.fromEntries(alertVariableNames.map((name) => [name, 0])) as AlertValues;

function holds(text: string, values: Partial<AlertValues> = {}): boolean {
  const condition = parseCondition(text);
  if ('problem' in condition) throw new Error(condition.problem);
  return condition.holds({ ...zero, ...values });
}

function problem(text: string) {
  const condition = parseCondition(text);
  if (!('problem' in condition)) throw new Error(`${text} was accepted`);
  return condition;
}

describe('a condition', () => {
  it.each([
    ['error_rate > 0.1', { error_rate: 0.2 }, true],
    ['error_rate > 0.1', { error_rate: 0.1 }, false],
    ['queue_length > 100', { queue_length: 101 }, true],
    ['queue_length >= 100 && workers_alive < 2', { queue_length: 100, workers_alive: 1 }, true],
    ['workers_alive == 0', {}, true],
    ['0 == workers_alive', { workers_alive: 1 }, false],
    ['workers_alive != 2', { workers_alive: 3 }, true],
    ['workers_alive != 2', { workers_alive: 2 }, false],
    ['queue_length / workers_alive > 10', { queue_length: 21, workers_alive: 2 }, true],
    ['free_space_mb / 1024 < 10', { free_space_mb: 10_000 }, true],
    ['queue_length - 1 == 2 * scans_failed_15m', { queue_length: 5, scans_failed_15m: 2 }, true],
    ['-queue_length < -3', { queue_length: 4 }, true],
    ['int(queue_length) == 4', { queue_length: 4.5 }, true],
    ['!(queue_length > 1)', {}, true],
    ['(queue_length > 1) != (workers_alive > 1)', { queue_length: 2 }, true],
  ])('%s of %o is %s', (text, values, expected) => {
    expect(holds(text, values)).toBe(expected);
  });

  it('takes the words and, or and not for operators', () => {
    expect(holds('not (queue_length > 1) and (workers_alive == 0 or error_rate > 1)')).toBe(true);
    expect(holds('queue_length > 1 or\nworkers_alive == 0')).toBe(true);
  });

  it('leaves words in strings, names and comments alone', () => {
    const texts = [`"a and b" == 'x or y'`, `r"\\" == 'not'`, `"""and " or""" == ''`, `'it\\'s and' == ''`];
    for (const text of [...texts, 'land or', 'x.and', '// not and or'])
      expect(translateWords(`${text}`)).toBe(text.replace(/^land or$/, 'land ||'));
    expect(holds(`"a and b" == "a && b" or "not" == "not"`)).toBe(true);
    expect(holds(`"a and b" == "a &&  b"`)).toBe(false);
  });

  it.each([
    'worker_utilization > 0',
    'worker_utilization < 1',
    'worker_utilization >= 0',
    'worker_utilization <= 0',
    'worker_utilization == 0',
    'worker_utilization != 0',
    '0.5 != worker_utilization',
    'worker_utilization * 2 != queue_length + 1',
    'worker_utilization == worker_utilization',
  ])('%s is false while the value is unknown', (text) => {
    expect(holds(text, { worker_utilization: Number.NaN })).toBe(false);
  });

  it('an unknown value leaves other parts of the condition in force', () => {
    const values = { worker_utilization: Number.NaN, queue_length: 101 };
    expect(holds('worker_utilization > 0.9 || queue_length > 100', values)).toBe(true);
  });

  it.each([
    ['queue_lenght > 1', 0, 'unknown variable queue_lenght; did you mean queue_length?'],
    ['queue_length > 1 && foo > 1', 20, /^unknown variable foo; known: error_rate, /],
    ['queue_length > "x"', 0, 'no such overload: double > string'],
    ['queue_length >', 14, 'unexpected end of the condition'],
    ['queue_length > 1 )', 17, "Unexpected character: ')'"],
    ['queue_length = 1', 13, 'Unexpected character: ='],
    ['1.0 + 1.0', 0, 'must be true or false, but has the type double'],
    ['queue_length', 0, 'must be true or false, but has the type double'],
    ['', 0, 'the condition is empty'],
    ['not queue_length > 5', 0, /put the comparison after "not" in parentheses/],
  ])('%s is rejected at offset %i', (text, offset, message) => {
    const found = problem(text);
    expect(found.offset).toBe(offset);
    if (typeof message === 'string') expect(found.problem).toBe(message);
    else expect(found.problem).toMatch(message);
  });

  it.each([
    '[1, 2].all(x, x > 1)',
    '[1.0].exists(x, x > queue_length)',
    '[1, 2].map(x, x).size() > 1',
    'has(error_rate.x)',
    'queue_length in [1.0, 2.0]',
    '{1: 2}[1] > 1',
    'size("x") > 1',
    '"aaa".matches("(a+)+$")',
    'cel.bind(x, queue_length, x > 1)',
    'queue_length > 1 ? true : false',
    'timestamp("2026-01-01T00:00:00Z") > timestamp("2025-01-01T00:00:00Z")',
  ])('%s is rejected: lists, comprehensions and functions have no use', (text) => {
    expect(problem(text).problem).toBe('only comparisons, && || ! and + - * / can be used here');
  });

  it('has a bounded length, nesting and number of parts', () => {
    expect(problem(`${' '.repeat(maxConditionLength)}true`).problem).toMatch(/longer than 1000/);
    expect(problem(`${'('.repeat(30)}queue_length > 1${')'.repeat(30)}`).problem).toMatch(/maxDepth/);
    expect(problem(`true${' || true'.repeat(110)}`).problem).toMatch(/maxAstNodes/);
  });

  it('names its variables', () => {
    const condition = parseCondition('queue_length > 1 && (error_rate > 0.1 || queue_length > 9)');
    expect('problem' in condition ? [] : condition.variables).toEqual(['error_rate', 'queue_length']);
  });

  it('throws where it cannot be evaluated', () => {
    expect(() => holds('1 / 0 == 1')).toThrow(/division by zero/);
    expect(() => holds('int(queue_length / workers_alive) > 1')).toThrow(/overflow/);
  });
});

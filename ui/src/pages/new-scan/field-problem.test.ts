import { expect, it } from 'vitest';
import { fieldProblem } from './field-problem.ts';

it('finds the reasons of a field and of the members of its list', () => {
  const error = {
    fields: [
      { field: 'rate', reason: 'must be at least 1' },
      { field: 'exclude[1]', reason: '"x y": contains a blank' },
      { field: 'excluded', reason: 'other' },
    ],
    details: {},
  };
  expect(fieldProblem(error, 'rate')).toBe('must be at least 1');
  expect(fieldProblem(error, 'exclude')).toBe('"x y": contains a blank');
  expect(fieldProblem(error, 'targets')).toBeNull();
});

it('names the targets that were refused, the first of many', () => {
  const refused = (value: string) => ({ index: 0, value, reason: 'not an IP address' });
  const error = {
    fields: [{ field: 'targets', reason: 'invalid targets' }],
    details: { targets: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(refused) },
  };
  const text = fieldProblem(error, 'targets');
  expect(text).toMatch(/^a is not an IP address; b is /);
  expect(text).toMatch(/; and 2 more$/);
  const outside = { index: 0, value: '192.0.2.1', reason: 'out_of_scope', hint: 'allow it' };
  expect(fieldProblem({ ...error, details: { targets: [outside] } }, 'targets')).toBe(
    '192.0.2.1 is out of scope: allow it',
  );
});

import { expect, it } from 'vitest';
import { completeQuery } from '../../../../src/domain/query/complete-query.ts';
import { choicesOf } from './query-choices.ts';

function choicesAt(text: string, found: { value: string; count?: number }[] = []) {
  const completion = completeQuery(text, text.length);
  if (completion === null) throw new Error('nothing to complete');
  return choicesOf(completion, found);
}

it('offers fields with their help', () => {
  const [first] = choicesAt('port:443 sev');
  expect(first).toMatchObject({ insert: 'severity:', isComplete: false });
  expect(choicesAt('').length).toBeGreaterThan(20);
  expect(choicesAt('').some(({ note }) => note.includes('`'))).toBe(false);
});

it('offers values of the data before those of the language', () => {
  const choices = choicesAt('state:o', [{ value: 'open', count: 1234 }]);
  expect(choices[0]).toEqual({ insert: 'open', shown: 'open', note: '1,234', isComplete: true });
  expect(choices.filter(({ insert }) => insert === 'open')).toHaveLength(1);
});

it('writes values so that they are one condition', () => {
  const [space, control] = choicesAt('product:', [{ value: 'Apache httpd' }, { value: 'x\u001b[2J' }]);
  expect(space?.insert).toBe('"Apache httpd"');
  expect(control?.insert).toBe('x*');
});

it('leaves out values that are taken or do not fit', () => {
  const shown = choicesAt('product:nginx,ap', [
    { value: 'nginx' },
    { value: 'Apache' },
    { value: 'lighttpd' },
  ]);
  expect(shown.map((choice) => choice.shown)).toEqual(['Apache']);
});

it('knows that an operator wants a value', () => {
  expect(choicesAt('cvss:').find(({ insert }) => insert === '>=')?.isComplete).toBe(false);
});

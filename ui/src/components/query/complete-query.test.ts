import { expect, it } from 'vitest';
import { completionAt, fieldChoices, knownValues, valueChoices, withChoice } from './complete-query.ts';

const at = (text: string) => completionAt(text, text.length);

it('completes fields', () => {
  expect(at('port:443 sev')).toEqual({ kind: 'field', word: 'sev', from: 9, to: 12 });
  expect(fieldChoices('sev').map(({ text }) => text)).toContain('severity:');
  expect(fieldChoices('exploited').map(({ text }) => text)).toEqual(['kev:']);
});

it('offers all fields for an empty text', () => {
  expect(at('')).toEqual({ kind: 'field', word: '', from: 0, to: 0 });
  expect(fieldChoices('').length).toBeGreaterThan(20);
});

it('completes values', () => {
  expect(at('severity:hi')).toEqual({ kind: 'value', field: 'severity', word: 'hi', from: 9, to: 11 });
  expect(knownValues('severity', 'hi')).toEqual([{ value: 'high' }]);
});

it('completes behind operators, commas and quotes', () => {
  expect(at('severity:>=m')).toMatchObject({ word: 'm', from: 11 });
  expect(at('port:22,4')).toMatchObject({ word: '4', from: 8 });
  expect(at('product:"Apache ht')).toMatchObject({ kind: 'value', word: 'Apache ht', from: 8 });
});

it('knows aliases', () => {
  expect(at('exploited:t')).toMatchObject({ field: 'kev' });
});

it('leaves quoted text and unknown fields alone', () => {
  expect(at('"port')).toBeNull();
  expect(at('sevrity:hi')).toBeNull();
});

it('puts a choice in its place', () => {
  const text = 'product:apa severity:high';
  const completion = completionAt(text, 11);
  const [choice] = valueChoices([{ value: 'Apache httpd', count: 1234 }]);
  if (completion === null || choice === undefined) throw new Error('nothing to complete');
  expect(choice.note).toBe('1,234');
  expect(withChoice(text, completion, choice)).toEqual({
    text: 'product:"Apache httpd" severity:high',
    cursor: 22,
  });
});

import { expect, it } from 'vitest';
import { shownValues } from './service-values.ts';

it('gives values their words and units', () => {
  const shown = shownValues({
    queue_length: 1200,
    error_rate: 0.999,
    free_space_mb: 1000,
    oldest_queued_seconds: 0,
  });
  expect(shown.map(({ name, value }) => [name, value])).toEqual([
    ['error_rate', '99 %'],
    ['queue_length', '1,200'],
    ['oldest_queued_seconds', '0 s'],
    ['free_space_mb', '1.0 GB'],
  ]);
});

it('an unknown value is no zero', () => {
  expect(shownValues({ vulndb_age_days: null })[0]?.value).toBe('–');
});

it('shows values that it does not know', () => {
  expect(shownValues({ load: 3 })).toEqual([{ name: 'load', label: 'load', value: '3' }]);
});

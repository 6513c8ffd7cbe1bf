import { expect, it } from 'vitest';
import { optionsOf } from './module-options.ts';

it('reads options of a JSON Schema', () => {
  const schema = {
    type: 'object',
    required: ['ports'],
    properties: {
      ports: { type: 'string', description: 'Ports to try', default: '' },
      rate: { type: 'integer', minimum: 1, maximum: 100_000, default: 500 },
      mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
      retry: { type: 'integer', minimum: 0 },
      deep: { type: 'boolean', default: false },
    },
  };
  expect(optionsOf(schema)).toEqual([
    {
      name: 'ports',
      type: 'text',
      defaultText: '""',
      allowed: null,
      isRequired: true,
      description: 'Ports to try',
    },
    {
      name: 'rate',
      type: 'whole number',
      defaultText: '500',
      allowed: '1 to 100,000',
      isRequired: false,
      description: '',
    },
    {
      name: 'mode',
      type: 'text',
      defaultText: 'safe',
      allowed: 'one of fast, safe',
      isRequired: false,
      description: '',
    },
    {
      name: 'retry',
      type: 'whole number',
      defaultText: null,
      allowed: 'at least 0',
      isRequired: false,
      description: '',
    },
    {
      name: 'deep',
      type: 'yes or no',
      defaultText: 'false',
      allowed: null,
      isRequired: false,
      description: '',
    },
  ]);
});

it('takes schemas of plugins that say little', () => {
  expect(optionsOf({})).toEqual([]);
  expect(optionsOf({ properties: 'x' })).toEqual([]);
  expect(
    optionsOf({ properties: { a: true, b: { type: ['string', 'null'] } } }).map(({ type }) => type),
  ).toEqual(['any', 'string or null']);
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { optionsJsonSchema } from './options.ts';

describe('the JSON Schema of options', () => {
  it('names the bounds of every kind of option', () => {
    const schema = optionsJsonSchema({
      timeout: { Type: 'duration', Description: 'Wait.', Default: '2s', Min: 10, Max: 300_000 },
      pause: { Type: 'duration', Description: 'Pause.', Min: 0 },
      tries: { Type: 'int', Description: 'Tries.', Min: 0, Max: 10 },
      quiet: { Type: 'bool', Description: 'Quiet.' },
    });
    expect(schema['properties']).toEqual({
      timeout: {
        type: 'string',
        format: 'portolan-duration',
        description: 'Wait.',
        default: '2s',
        formatMinimum: '10ms',
        formatMaximum: '5m',
      },
      pause: { type: 'string', format: 'portolan-duration', description: 'Pause.', formatMinimum: '0s' },
      tries: { type: 'integer', description: 'Tries.', minimum: 0, maximum: 10 },
      quiet: { type: 'boolean', description: 'Quiet.' },
    });
  });

  it('accepts the words of a comma list and no others', () => {
    const schema = optionsJsonSchema({
      checks: { Type: 'string', Description: 'Checks.', Items: ['all', 'tls-1.0'] },
    });
    const valid = new Ajv2020().compile(schema);
    const accepted = ['all', 'tls-1.0, all', ' all ,tls-1.0 '].map((checks) => valid({ checks }));
    const rejected = ['', 'tls-110', 'all,', 'allall'].map((checks) => valid({ checks }));
    expect([accepted, rejected]).toEqual([
      [true, true, true],
      [false, false, false, false],
    ]);
  });
});

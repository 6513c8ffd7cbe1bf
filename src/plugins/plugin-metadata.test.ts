import { describe, expect, it } from 'vitest';
import { checkMetadata } from './plugin-metadata.ts';

const good = {
  name: 'port_notes',
  type: 'evaluation',
  version: '1.2.0',
  description: 'Notes on ports.',
  options: {
    depth: { Type: 'int', Description: 'How deep.', Default: 3, Min: 1, Max: 9 },
    wait: { Type: 'duration', Description: 'How long.', Default: '2s' },
    mode: { Type: 'string', Description: 'How.', Enum: ['fast', 'slow'], Required: true },
  },
  requires: ['open_ports|banners'],
  provides: ['vulnerabilities', 'notes'],
};

describe('metadata of a plugin', () => {
  it('is returned as it was given', () => {
    expect(checkMetadata(good)).toEqual(good);
  });

  it('may leave out what has an empty value', () => {
    expect(checkMetadata({ name: 'tiny', type: 'parser', version: '1.0.0' })).toEqual({
      name: 'tiny',
      type: 'parser',
      version: '1.0.0',
      description: '',
      options: {},
      requires: [],
      provides: [],
    });
  });

  it.each<[string, object]>([
    ['metadata has the unknown field "provide"; did you mean provides?', { provide: [] }],
    ['name must be', { name: '../x' }],
    ['name must be', { name: '__proto__' }],
    ['name must be', { name: 'x'.repeat(300) }],
    ['name must be', { name: 7 }],
    ['type must be one of', { type: 'reporter' }],
    ['type must be one of', { type: undefined }],
    ['version must be', { version: 'newest' }],
    ['description must be', { description: 'x'.repeat(1001) }],
    ['requires must be a list', { requires: 'banners' }],
    ['requires must be a list', { requires: Array.from({ length: 33 }, (_, i) => `key${i}`) }],
    ['requires[0] must be', { requires: ['banners|'] }],
    ['provides[0] must be', { provides: ['targets'] }],
    ['provides[1] must be', { provides: ['banners', 'a|b'] }],
    ['options must be an object', { options: [] }],
    ['options: "Depth" must be', { options: { Depth: { Type: 'int', Description: '' } } }],
    [
      'options must be 64',
      { options: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`o${i}`, {}])) },
    ],
    ['options.a1 must be an object', { options: { a1: 1 } }],
    ['options.a1.Type must be one of', { options: { a1: { Type: 'float' } } }],
    ['options.a1.Min must be a number', { options: { a1: { Type: 'int', Min: '1' } } }],
    ['options.a1.Min is for numbers', { options: { a1: { Type: 'string', Min: 1 } } }],
    ['options.a1.Min must not be greater', { options: { a1: { Type: 'int', Min: 2, Max: 1 } } }],
    ['options.a1.Enum must be a list', { options: { a1: { Type: 'string', Enum: [] } } }],
    ['options.a1.Required must be', { options: { a1: { Type: 'string', Required: 'yes' } } }],
    ['options.a1.Default must be a whole number', { options: { a1: { Type: 'int', Default: 'x' } } }],
    ['options.a1 has the unknown field "default"', { options: { a1: { Type: 'int', default: 1 } } }],
  ])('is rejected: %s', (reason, change) => {
    expect(() => checkMetadata({ ...good, ...change })).toThrow(reason);
  });

  it('shows no escape sequences of a plugin', () => {
    const esc = String.fromCharCode(27);
    expect(checkMetadata({ ...good, description: `a${esc}[31mb` }).description).toBe('a\\x1b[31mb');
    expect(() => checkMetadata({ ...good, name: `a${esc}` })).toThrow(/^[ -~]+$/);
  });

  it('is an object', () => {
    for (const given of [null, [], 'text', 3]) expect(() => checkMetadata(given)).toThrow('metadata must be');
  });
});

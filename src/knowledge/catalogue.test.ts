import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtinCatalogue, loadCatalogue, parseSignatures, signatureProblems } from './catalogue.ts';

test.each(builtinCatalogue.signatures.map((signature) => [signature.id, signature] as const))(
  'the builtin signature %s gives what its examples say',
  (_, signature) => {
    expect(signatureProblems(signature)).toEqual([]);
  },
);

test('builtin ids are unique', () => {
  const ids = builtinCatalogue.signatures.map((signature) => signature.id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

const wellFormed = `
- id: http.example
  service: http
  source: http.header.server
  pattern: '^Example/(?P<version>\\d+\\.\\d+)'
  product: Example
  vendor: example
  version: '{version}'
  cpe: { part: a, vendor: example, product: example, version: '{version}' }
  certainty: 0.9
  examples:
    - { text: Example/1.2, version: '1.2', cpe: 'cpe:2.3:a:example:example:1.2:*:*:*:*:*:*:*' }
`;

test('a catalogue file adds signatures to the builtin ones', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catalogue-'));
  try {
    const file = join(dir, 'rules.yaml');
    await writeFile(file, wellFormed);
    const catalogue = await loadCatalogue(file);
    expect(catalogue.match('http.header.server', 'Example/1.2')[0]).toMatchObject({
      product: 'Example',
      version: '1.2',
    });
    expect(catalogue.match('ssh.software', 'OpenSSH_9.2p1')[0]?.product).toBe('OpenSSH');
  } finally {
    await rm(dir, { recursive: true });
  }
});

test('a missing file is a configuration error', async () => {
  await expect(loadCatalogue('/nonexistent/rules.yaml')).rejects.toMatchObject({ code: 'configuration' });
});

test.each([
  ['an unknown field', `${wellFormed}  colour: red\n`, /rules\.yaml:2: colour is not a known field/],
  [
    'a pattern with look-ahead',
    wellFormed.replace("'^Example", "'^(?=x)Example"),
    /rules\.yaml:2: pattern does not/,
  ],
  [
    'an example that does not match',
    wellFormed.replace('text: Example/1.2', 'text: Other/1.2'),
    /does not match/,
  ],
  [
    'an example with another version',
    wellFormed.replace("version: '1.2', cpe", "version: '1.3', cpe"),
    /not 1\.3/,
  ],
  [
    'a second record of the same id',
    wellFormed + wellFormed,
    /rules\.yaml:14: id "http\.example" is used twice/,
  ],
  ['certainty above 1', wellFormed.replace('0.9', '9'), /certainty must be/],
  ['broken YAML', '- id: [\n', /rules\.yaml:\d+/],
  ['no list', 'id: x\n', /rules\.yaml:1: must hold a list/],
])('%s is refused with file and line', (_, text, message) => {
  expect(() => parseSignatures(text, 'rules.yaml')).toThrow(message);
});

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Signature } from '../knowledge/signatures/signature.ts';
import { FingerprintSets } from './fingerprint-sets.ts';

let dir = '';
let sets: FingerprintSets;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sets-'));
  sets = new FingerprintSets(join(dir, 'a/b'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const gadget: Signature = {
  id: 'own.gadget',
  service: 'gadget',
  source: 'banner.raw',
  pattern: '^GADGET',
  product: 'Gadget \u2028 é',
  vendor: null,
  certainty: 0.6,
  examples: [{ text: 'GADGET' }],
};
const facts = { name: 'own', origin: 'added', source: 'own.yaml' } as const;

test('a set comes back as it was written, for its owner only', async () => {
  expect(await sets.list()).toEqual({ names: [], problems: [] });
  const header = await sets.write(facts, [gadget]);
  expect(header).toMatchObject({ ...facts, signatures: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await sets.read('own')).toEqual({ header, signatures: [gadget] });
  expect((await sets.list()).names).toEqual(['own']);
  expect((await stat(sets.fileOf('own'))).mode & 0o777).toBe(0o600);
  expect(await readdir(sets.dir)).toEqual(['own.rules']);
  expect([await sets.remove('own'), await sets.remove('own')]).toEqual([true, false]);
  await expect(sets.read('own')).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  ['a changed byte', (bytes: Buffer) => bytes.fill('X', bytes.length - 20, bytes.length - 19)],
  ['a missing end', (bytes: Buffer) => bytes.subarray(0, -5)],
  ['no line', (bytes: Buffer) => bytes.subarray(0, 10)],
  ['nothing', () => Buffer.alloc(0)],
  ['another name', (bytes: Buffer) => Buffer.from(bytes.toString().replace('"own"', '"owl"'))],
])('a file with %s is refused whole', async (_, change) => {
  await sets.write(facts, [gadget]);
  const file = sets.fileOf('own');
  await writeFile(file, change(await readFile(file)));
  await expect(sets.read('own')).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining(file),
  });
});

test('names that are none are not listed', async () => {
  await sets.write(facts, [gadget]);
  await writeFile(join(sets.dir, '..rules'), 'x');
  await writeFile(join(sets.dir, 'UPPER.rules'), 'x');
  expect((await sets.list()).names).toEqual(['own']);
});
